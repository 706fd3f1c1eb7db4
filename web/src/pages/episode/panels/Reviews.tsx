/** What a reviewer says about the episode: a command that the user configured reads a bundle and answers. */
import { useSignal } from "@preact/signals";
import { read } from "../../../api/client";
import { commandText } from "../../../api/command";
import { useQuery } from "../../../api/queries";
import type { Review, ReviewContents } from "../../../api/types";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Dialog } from "../../../ui/Dialog";
import { formatCount } from "../../../ui/numbers";
import { ErrorLine } from "../../../ui/states";
import { useTask } from "../../run/parts/useTask";
import { episodeArguments } from "../address";
import { useEpisode } from "../store";

export function Reviews() {
  const { address } = useEpisode();
  const list = useQuery(`reviews:${address.run}`, () => read("reviews", { ref: address.run }));
  const task = useTask("review");
  const isAsking = useSignal(false);
  const { running, error } = task.state.value;
  const about = list.data.value?.reviews.filter(({ episode }) => episode && isSame(episode, address)) ?? [];
  const commands = list.data.value?.commands ?? [];
  const review = async () => {
    isAsking.value = false;
    await task.start({ ...episodeArguments(address), confirm: true } as Parameters<typeof task.start>[0], "review");
    list.refresh();
  };
  return (
    <div class="episode-reviews">
      <p class="muted">
        A bundle with the config, charts, alerts, key moments and steps of this episode is{" "}
        {commands.length ? (
          <>
            passed to the command <code>{commands[0]}</code> of your settings file.
          </>
        ) : (
          "written to a file of the run: no command is configured in your settings file. Nothing leaves this machine."
        )}
      </p>
      {list.data.value?.problem && <p class="error-text">{list.data.value.problem}</p>}
      <ErrorLine error={error ?? list.error.value} />
      <p>
        <Button busy={running} disabledReason={readOnlyReason.value || undefined} onClick={() => (isAsking.value = true)}>
          Review…
        </Button>{" "}
        {running && <Button onClick={task.cancel}>Cancel</Button>}
        <CopyButton
          text={commandText({
            command: "review",
            words: [`${address.run}:${address.version}`],
            options: { episode: address.number, kind: address.kind },
          })}
          label="Copy as CLI command"
        />
      </p>
      {about.map((found) => (
        <Answer key={found.id} review={found} />
      ))}
      {isAsking.value && <ContentsDialog onClose={() => (isAsking.value = false)} onReview={() => void review()} />}
    </div>
  );
}

function Answer({ review }: { review: Review }) {
  return (
    <section class="episode-review">
      <h3>
        {review.command || "Written to a file"} <span class="muted">{new Date(review.created * 1000).toLocaleString()}</span>
      </h3>
      {review.answer ? <pre>{review.answer}</pre> : <p class="muted">{review.bundle}</p>}
      {review.cut && <p class="muted">{review.cut}</p>}
    </section>
  );
}

/** Lists what a bundle contains before it is passed on. */
function ContentsDialog({ onClose, onReview }: { onClose: () => void; onReview: () => void }) {
  const { address } = useEpisode();
  const args = episodeArguments(address) as Parameters<typeof read<"review_contents">>[1];
  const contents = useQuery(`review-contents:${JSON.stringify(address)}`, () => read("review_contents", args));
  const known = contents.data.value;
  return (
    <Dialog
      title="Review this episode"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" disabledReason={known ? undefined : "The contents are being listed."} onClick={onReview}>
            {known && !known.command ? "Write the bundle" : "Pass it on"}
          </Button>
        </>
      }
    >
      <ErrorLine error={contents.error.value} />
      {known ? <Contents contents={known} /> : <p role="status">Listing the contents of the bundle</p>}
    </Dialog>
  );
}

function Contents({ contents }: { contents: ReviewContents }) {
  return (
    <>
      <p>
        {contents.command ? (
          <>
            The command <code>{contents.command}</code> receives {formatCount(contents.chars)} characters:
          </>
        ) : (
          <>A file of the run gets {formatCount(contents.chars)} characters:</>
        )}
      </p>
      <ul>
        {contents.parts.map((part) => (
          <li key={part.name}>
            {part.name} <span class="muted">{formatCount(part.chars)} characters</span>
          </li>
        ))}
        {contents.frames.length > 0 && <li>frames of the steps {contents.frames.join(", ")}</li>}
      </ul>
      <p class="muted">Environment variables, tokens, user names and home paths are removed.</p>
    </>
  );
}

function isSame(
  a: { kind: string; version: number; number: number },
  b: { kind: string; version: number; number: number },
): boolean {
  return a.kind === b.kind && a.version === b.version && a.number === b.number;
}
