/** Adds tags to the selected runs, and removes them. */

import { useSignal } from "@preact/signals";
import type { RunSummary } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { countRuns, tagRuns } from "./actions";
import { countValues } from "./grouping";
import { split } from "./words";

export function TagDialog({ runs, onClose }: { runs: RunSummary[]; onClose: () => void }) {
  const text = useSignal("");
  const ids = runs.map((run) => run.id);
  const present = countValues(runs, (run) => run.tags);
  const add = () => {
    const tags = split(text.value.replaceAll(",", " "));
    if (!tags.length) return;
    onClose();
    void tagRuns(ids, tags, false);
  };
  return (
    <Dialog
      title={`Tags of ${countRuns(runs.length)}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" onClick={add} disabledReason={text.value.trim() ? "" : "Type a tag first."}>
            Add
          </Button>
        </>
      }
    >
      <label class="stacked">
        New tags, separated by spaces
        <input
          autofocus
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && add()}
        />
      </label>
      {present.length > 0 && (
        <div>
          <p class="muted">Remove:</p>
          <p class="tag-list">
            {present.map(({ value, count }) => (
              <button
                key={value}
                type="button"
                class="tag removable"
                title={`Remove ${value} from ${countRuns(count)}`}
                onClick={() => {
                  onClose();
                  const tagged = runs.filter((run) => run.tags.includes(value));
                  void tagRuns(tagged.map((run) => run.id), [value], true);
                }}
              >
                {value} <span class="muted">{count}</span> ×
              </button>
            ))}
          </p>
        </div>
      )}
    </Dialog>
  );
}
