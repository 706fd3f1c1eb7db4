/** The cells of a run in the runs table. */

import { signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Link, runPath } from "../../app/router";
import type { RunSummary } from "../../api/types";
import { colorOf } from "../../chart/colors";
import { formatArea, formatAge, formatDuration, formatInterval, formatNumber, formatShort } from "../../ui/numbers";
import { Num } from "../../ui/Num";
import { Sparkline } from "../../ui/Sparkline";
import { ACTIVE } from "./columns";

const now = signal(Date.now() / 1000);
setInterval(() => {
  if (!document.hidden) now.value = Date.now() / 1000;
}, 5_000);

/** Returns the content of a cell. A run that cannot be read has only its id, its problem and its age. */
export function runCell(run: RunSummary, column: string): ComponentChildren {
  if (run.problem && !["status", "name", "preset", "age", "id"].includes(column)) return null;
  const cell = CELLS[column];
  return cell ? cell(run) : null;
}

const CELLS: Record<string, (run: RunSummary) => ComponentChildren> = {
  status: (run) => <Status status={run.status} reason={run.reason || run.problem} />,
  name: (run) => <Name run={run} />,
  preset: (run) =>
    run.problem ? (
      <span class="run-problem" title={run.problem}>
        {run.problem}
      </span>
    ) : (
      <span title={run.preset}>{run.preset}</span>
    ),
  algo: (run) => run.algo,
  seed: (run) => run.seed,
  progress: (run) => <Progress run={run} />,
  remaining: (run) =>
    ACTIVE.includes(run.status) && run.remaining_seconds !== null ? (
      <span title={formatDuration(run.remaining_seconds)}>{shortDuration(run.remaining_seconds)}</span>
    ) : null,
  score: (run) => <Score run={run} />,
  area: (run) => (run.learning ? <span title={String(run.learning.area ?? "")}>{formatArea(run.learning.area)}</span> : null),
  best: (run) => (run.best_score === null ? null : <Num value={run.best_score} />),
  alerts: (run) =>
    run.n_alerts ? (
      <Link class="alert-count" to={runPath(run.id, "diagnosis")} tabIndex={-1} title="Open the diagnosis">
        {run.n_alerts}
      </Link>
    ) : (
      <span class="muted">0</span>
    ),
  tags: (run) => (
    <span title={run.tags.join(" ") || undefined}>
      {run.tags.map((tag) => (
        <span class="tag" key={tag}>
          {tag}
        </span>
      ))}
    </span>
  ),
  speed: (run) =>
    run.steps_per_second === null ? null : <span title={String(run.steps_per_second)}>{formatShort(run.steps_per_second)}</span>,
  curve: (run) => <Curve run={run} />,
  age: (run) => <Age created={run.created} />,
  id: (run) => <code>{run.id}</code>,
  group: (run) => run.group_name || run.group,
  env_steps: (run) => count(run.clocks["env_steps"]),
  seconds: (run) => (run.clocks["seconds"] === undefined ? null : formatDuration(run.clocks["seconds"])),
  reason: (run) => <span title={run.reason}>{run.reason}</span>,
  note: (run) => <span title={run.note}>{run.note}</span>,
  host: (run) => run.host,
};

/** A dot and the status as text. */
export function Status({ status, reason = "" }: { status: string; reason?: string }) {
  return (
    <span class={`status-cell ${status}`} title={reason || undefined}>
      <span class="status-dot" aria-hidden="true" />
      <span class="status-text">{status}</span>
    </span>
  );
}

/** Time since a run was created; changes without the rest of its row. */
export function Age({ created }: { created: number }) {
  return <span title={new Date(created * 1000).toLocaleString()}>{formatAge(Math.max(0, now.value - created))}</span>;
}

function Name({ run }: { run: RunSummary }) {
  return (
    <span class="run-name">
      <Link to={runPath(run.id)} tabIndex={-1} title={[run.name && run.id, run.note].filter(Boolean).join("\n") || undefined}>
        {run.name || run.id}
      </Link>
      {run.note && (
        <span class="note-mark" title={run.note} aria-label={`Note: ${run.note}`} role="img">
          ✎
        </span>
      )}
      <span class="under-name">{run.problem || run.preset}</span>
    </span>
  );
}

function Progress({ run }: { run: RunSummary }) {
  if (run.progress === null) return null;
  const percent = `${Math.floor(run.progress * 100)} %`;
  return (
    <progress
      class={ACTIVE.includes(run.status) ? "budget-bar active" : "budget-bar"}
      max={1}
      value={run.progress}
      aria-label="Used share of the budget"
      title={`${percent} of the budget`}
    />
  );
}

function Score({ run }: { run: RunSummary }) {
  const { score } = run;
  if (!score) return null;
  const role = score.role ? `, ${score.role}` : "";
  const threshold = run.threshold === null ? "" : `, threshold ${formatNumber(run.threshold)}`;
  const interval = Number.isFinite(score.low) ? ` [${score.low}, ${score.high}]` : "";
  const solved = run.solved === true ? ", solved" : "";
  const episodes = score.episodes === 1 ? "1 episode" : `${score.episodes} episodes`;
  const caveat = score.caveat && `, ${score.caveat}`;
  return (
    <span class={score.caveat ? "score muted" : "score"} title={`${score.mean}${interval}, ${episodes}${caveat}${role}${threshold}${solved}`}>
      <ScoreText mean={score.mean} low={score.low} high={score.high} />
      {score.caveat && (
        <span class="score-caveat" role="img" aria-label={score.caveat}>
          ?
        </span>
      )}
      <span class="solved-mark" aria-label={run.solved === true ? "solved" : undefined} role={run.solved === true ? "img" : undefined}>
        {run.solved === true ? "✓" : ""}
      </span>
    </span>
  );
}

/** A mean with its muted interval, formatted as `gymnast runs` does. */
export function ScoreText({ mean, low, high }: { mean: number; low: number; high: number }) {
  const text = formatInterval(mean, low, high);
  const [first = "", ...rest] = text.split(" ");
  return (
    <>
      <span class="num">{first}</span>
      {rest.length > 0 && <span class="interval"> {rest.join(" ")}</span>}
    </>
  );
}

function Curve({ run }: { run: RunSummary }) {
  if (!run.curve.length) return null;
  const last = run.curve.at(-1)?.[1];
  return (
    <Sparkline
      points={run.curve}
      width={88}
      height={18}
      color={colorOf(run.id).color}
      line={run.threshold}
      label={`Evaluation return, ${run.curve.length} evaluations${last === undefined ? "" : `, last ${formatNumber(last)}`}`}
    />
  );
}

/** Returns a time in its largest unit: `40 s`, `12 min`, `3 h`. */
function shortDuration(seconds: number): string {
  return seconds < 60 ? `${Math.round(seconds)} s` : formatAge(seconds);
}

function count(value: number | undefined): ComponentChildren {
  return value === undefined ? null : <span title={value.toLocaleString("en")}>{formatShort(value)}</span>;
}
