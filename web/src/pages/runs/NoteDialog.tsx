/** Writes the note of the selected runs. */

import { useSignal } from "@preact/signals";
import type { RunSummary } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { countRuns, noteRuns } from "./actions";

export function NoteDialog({ runs, onClose }: { runs: RunSummary[]; onClose: () => void }) {
  const notes = new Set(runs.map((run) => run.note));
  const text = useSignal(notes.size === 1 ? (runs[0]?.note ?? "") : "");
  const replaced = runs.filter((run) => run.note && run.note !== text.value.trim()).length;
  const save = () => {
    onClose();
    void noteRuns(runs.map((run) => run.id), text.value);
  };
  return (
    <Dialog
      title={`Note of ${countRuns(runs.length)}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" onClick={save}>
            {text.value.trim() ? "Save" : "Remove the note"}
          </Button>
        </>
      }
    >
      <label class="stacked">
        Note
        <textarea
          autofocus
          rows={5}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && save()}
        />
      </label>
      <p class="muted">{replaced ? `Replaces the note of ${countRuns(replaced)}.` : "ctrl+enter saves."}</p>
    </Dialog>
  );
}
