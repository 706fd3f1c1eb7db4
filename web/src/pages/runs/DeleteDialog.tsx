/** Deletes the selected runs, after it has named them and what is lost. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asApiError, send, type ApiError } from "../../api/client";
import type { Removal, RunSummary } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { formatNumber, formatSize } from "../../ui/numbers";
import { toast, toastError } from "../../ui/toast";
import { countRuns } from "./actions";
import { ACTIVE } from "./columns";

export function DeleteDialog({ runs, onClose }: { runs: RunSummary[]; onClose: () => void }) {
  const active = runs.filter((run) => ACTIVE.includes(run.status));
  const ids = runs.filter((run) => !active.includes(run)).map((run) => run.id);
  const plan = useSignal<Removal | null>(null);
  const error = useSignal<ApiError | null>(null);
  useEffect(() => {
    if (!ids.length) return;
    send("remove", { refs: ids, dry_run: true }).then(
      (removal) => (plan.value = removal),
      (problem: unknown) => (error.value = asApiError(problem)),
    );
  }, []);
  const remove = () => {
    onClose();
    send("remove", { refs: ids }).then(
      (removal) => toast(`Deleted ${countRuns(removal.runs.length)}, ${formatSize(removal.bytes)}.`),
      toastError,
    );
  };
  const removal = plan.value;
  const scores = new Map(runs.map((run) => [run.id, run.score]));
  const children = removal?.runs.flatMap((run) => run.children) ?? [];
  const foreign = removal?.runs.flatMap((run) => run.foreign_files) ?? [];
  return (
    <Dialog
      title={ids.length ? `Delete ${countRuns(ids.length)}?` : "No run can be deleted"}
      onClose={onClose}
      className="delete-dialog"
      actions={
        <>
          <Button onClick={onClose} autofocus>
            Cancel
          </Button>
          {ids.length > 0 && (
            <Button kind="danger" onClick={remove} busy={!removal && !error.value} disabledReason={error.value?.message ?? ""}>
              Delete {countRuns(ids.length)}
              {removal ? `, ${formatSize(removal.bytes)}` : ""}
            </Button>
          )}
        </>
      }
    >
      {ids.length > 0 && (
        <p>
          {ids.length === 1 ? "Its" : "Their"} checkpoints, metrics, episodes and films are lost. This cannot be undone.
        </p>
      )}
      {error.value && (
        <p class="error-text" role="alert">
          {error.value.message} {error.value.fix}
        </p>
      )}
      {removal && (
        <ul class="delete-list">
          {removal.runs.map((run) => {
            const score = scores.get(run.id);
            return (
              <li key={run.id}>
                <strong class="ellipsis">{run.name || run.id}</strong>
                <span class="muted ellipsis">{[run.preset, run.status].filter(Boolean).join(", ")}</span>
                <span class="num">{score ? formatNumber(score.mean) : ""}</span>
                <span class="num">{formatSize(run.bytes)}</span>
              </li>
            );
          })}
        </ul>
      )}
      {children.length > 0 && <p class="warning">Runs that started from them and stay: {children.join(", ")}.</p>}
      {foreign.length > 0 && <p class="warning">Files that gymnast did not write are deleted too: {foreign.join(", ")}.</p>}
      {active.length > 0 && (
        <p>
          {active.length === 1 ? "This run is" : "These runs are"} training and cannot be deleted; stop{" "}
          {active.length === 1 ? "it" : "them"} first: {active.map((run) => run.name || run.id).join(", ")}
        </p>
      )}
    </Dialog>
  );
}
