/** The films of a run, making new ones, and its report. */
import { useSignal } from "@preact/signals";
import { address, send } from "../../../api/client";
import { commandText } from "../../../api/command";
import type { Arguments, RunDetails } from "../../../api/types";
import { route, setParams } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { formatCount, formatNumber } from "../../../ui/numbers";
import { Empty } from "../../../ui/states";
import { toast, toastError } from "../../../ui/toast";
import type { TabProps } from "../parts/lazyTab";
import { TaskBox } from "../parts/TaskBox";
import { fileName, timeText } from "../parts/text";
import { useTask } from "../parts/useTask";
import { fileHref, filmText, filmsOf, type RunFilm } from "./films";

export default function FilmsTab({ model, details }: TabProps) {
  const films = filmsOf(details);
  const wanted = route.value.params.get("film");
  const current = films.find((film) => fileName(film.path) === wanted) ?? films[0];
  return (
    <div class="run-view run-films">
      <div class="run-film-list">
        <MakeFilm details={details} onMade={(name) => (model.refresh(), setParams({ film: name }))} />
        <ul>
          {films.map((film) => (
            <li key={film.path}>
              <button
                type="button"
                aria-current={film === current ? "true" : undefined}
                onClick={() => setParams({ film: fileName(film.path) })}
              >
                <span>
                  {film.is_best && <span class="badge good">best</span>} {filmText(film)}
                </span>
                <span class="small muted">{film.created === null ? "" : timeText(film.created)}</span>
              </button>
            </li>
          ))}
        </ul>
        <Report details={details} />
      </div>
      <div class="run-player">
        {current ? (
          <Player film={current} id={details.id} />
        ) : (
          <Empty title="No films yet" height={320} command={commandText({ command: "video", words: [details.id] })}>
            A film shows a stored episode exactly as it was played. The first one needs an evaluation.
          </Empty>
        )}
      </div>
    </div>
  );
}

function Player({ film, id }: { film: RunFilm; id: string }) {
  const source = address(fileHref(id, `videos/${fileName(film.path)}`));
  return (
    <figure>
      <video key={source} src={source} controls muted loop playsInline preload="metadata" aria-label={filmText(film)} />
      <figcaption>
        <span>{filmText(film)}</span>
        {film.raw_return !== null && (
          <span class="num" title={String(film.raw_return)}>
            return {formatNumber(film.raw_return)}
          </span>
        )}
        {Object.entries(film.returns).map(([role, value]) => (
          <span class="num" key={role} title={String(value)}>
            {role} ({film.cast[role] ?? "?"}) {formatNumber(value)}
          </span>
        ))}
        {film.length !== null && <span class="num">{formatCount(film.length)} steps</span>}
        {film.seed !== null && <span class="num">seed {film.seed}</span>}
        {film.outcome && <span>{film.outcome}</span>}
        {!film.exact && <span class="warning">not exactly as stored: {film.note}</span>}
        <a href={source} download>
          download
        </a>
      </figcaption>
    </figure>
  );
}

function MakeFilm({ details, onMade }: { details: RunDetails; onMade: (file: string) => void }) {
  const task = useTask("video");
  const which = useSignal("best");
  const kind = useSignal<"eval" | "confirm" | "train">("eval");
  const checkpoint = useSignal("");
  const learning = which.value === "learning";
  const ref = checkpoint.value ? `${details.id}:${checkpoint.value}` : details.id;
  const args: Arguments["video"] = learning ? { ref: details.id, learning: true } : { ref, episode: which.value, kind: kind.value };
  const make = async () => {
    const report = await task.start(args, learning ? "film the learning progress" : `film ${ref}`);
    const made = report?.films[0];
    if (made) onMade(fileName(made.path));
  };
  const versions = [...new Set(details.evaluations.map((point) => point.env_steps))].reverse();
  return (
    <form
      class="run-make-film"
      onSubmit={(event) => {
        event.preventDefault();
        void make();
      }}
    >
      <label>
        Film{" "}
        <select value={which.value} onChange={(event) => (which.value = event.currentTarget.value)}>
          <option value="best">the best episode</option>
          <option value="last">the first episode</option>
          <option value="learning">learning progress</option>
        </select>
      </label>
      {!learning && (
        <label>
          of{" "}
          <select value={kind.value} onChange={(event) => (kind.value = event.currentTarget.value as typeof kind.value)}>
            <option value="eval">evaluations</option>
            <option value="confirm">the final evaluation</option>
            <option value="train">training</option>
          </select>
        </label>
      )}
      {!learning && (
        <label>
          policy{" "}
          <select value={checkpoint.value} onChange={(event) => (checkpoint.value = event.currentTarget.value)}>
            <option value="">{which.value === "best" ? "best" : "last"}</option>
            {versions.map((steps) => (
              <option key={steps} value={String(steps)}>
                {formatCount(steps)} env steps
              </option>
            ))}
          </select>
        </label>
      )}
      <span class="run-row-actions">
        <Button type="submit" kind="primary" disabledReason={readOnlyReason.value || undefined} busy={task.state.value.running}>
          Make the film
        </Button>
        <CopyButton
          text={commandText({
            command: "video",
            words: [learning ? details.id : ref],
            options: learning ? { learning: true } : { episode: which.value, kind: kind.value },
          })}
        />
      </span>
      <TaskBox state={task.state.value} onCancel={task.cancel} />
    </form>
  );
}

function Report({ details }: { details: RunDetails }) {
  const busy = useSignal(false);
  const page = useSignal<string | undefined>(undefined);
  const write = async () => {
    busy.value = true;
    try {
      const report = await send("report", { ref: details.id });
      const html = report.files.find((file) => file.endsWith(".html"));
      page.value = html && address(fileHref(details.id, html.slice(details.path.length + 1)));
      toast(`The report has ${report.files.length} files, in the run.`);
    } catch (error) {
      toastError(error);
    } finally {
      busy.value = false;
    }
  };
  return (
    <div class="run-report">
      <h2>Report</h2>
      <p class="muted">All charts, settings and events as one page to send or archive.</p>
      <span class="run-row-actions">
        <Button busy={busy.value} disabledReason={readOnlyReason.value || undefined} onClick={() => void write()}>
          Write the report
        </Button>
        {page.value && (
          <a class="button" href={page.value} target="_blank" rel="noreferrer">
            Open
          </a>
        )}
        <CopyButton text={commandText({ command: "report", words: [details.id] })} />
      </span>
    </div>
  );
}
