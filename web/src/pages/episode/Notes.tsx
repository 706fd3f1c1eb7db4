/** What the user must know about the data: a replay that deviates, a policy that is gone, a variation that is shown. */
import { Button } from "../../ui/Button";
import { cellText, sentence } from "./format";
import { useEpisode } from "./store";

export function Notes() {
  const store = useEpisode();
  const inspection = store.inspection.value;
  const variation = store.variation.value;
  if (!inspection) return null;
  const { replay, policy_note: policyNote, table_note: tableNote } = inspection;
  const mismatch = replay.mismatch;
  return (
    <>
      {!replay.exact && (
        <p class="episode-note warning" role="status">
          {mismatch === null ? (
            <strong>The episode cannot be replayed exactly.</strong>
          ) : (
            <>
              <strong>The replay deviates from the trace at step {mismatch}.</strong> Pictures and replayed observations end there.
            </>
          )}{" "}
          {sentence(replay.note)}{" "}
          {mismatch !== null && (
            <button type="button" class="link-button" onClick={() => store.seek(mismatch)}>
              Go to step {mismatch}
            </button>
          )}
        </p>
      )}
      {policyNote && (
        <p class="episode-note" role="status">
          <strong>The policy that played it is not available.</strong> {sentence(policyNote)} {sentence(tableNote)}
        </p>
      )}
      {!policyNote && tableNote && (
        <p class="episode-note" role="status">
          {sentence(tableNote)}
        </p>
      )}
      {variation && (
        <p class="episode-note selected" role="status">
          <strong>
            Variation from step {variation.step}: {variation.label}
            {variation.hold > 1 && `, held for ${variation.hold} steps`}.
          </strong>{" "}
          Everything from there on is what would have followed: a return of {cellText(variation.raw_return)} instead of{" "}
          {cellText(variation.played_return)}.{" "}
          <Button onClick={() => (store.variation.value = null)}>Back to the episode</Button>
        </p>
      )}
    </>
  );
}
