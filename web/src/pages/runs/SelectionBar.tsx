/** What can be done with the selected runs. It lies in the place of the toolbar, so that nothing moves. */

import { useSignal } from "@preact/signals";
import type { RunSummary } from "../../api/types";
import { navigate, pathWith } from "../../app/router";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { selectionCommand } from "./commands";
import { countRuns } from "./actions";
import { DeleteDialog } from "./DeleteDialog";
import { NoteDialog } from "./NoteDialog";
import { TagDialog } from "./TagDialog";

interface Props {
  /** The selected runs. */
  runs: RunSummary[];
  /** What `Compare` compares. */
  refs: string[];
  onCompare: () => void;
  onClear: () => void;
}

export function SelectionBar({ runs, refs, onCompare, onClear }: Props) {
  const dialog = useSignal<"tag" | "note" | "delete" | null>(null);
  const close = () => (dialog.value = null);
  const readable = runs.filter((run) => !run.problem);
  const reason = readOnlyReason.value || (readable.length ? "" : "A run that cannot be read can only be deleted.");
  return (
    <div class="selection-bar" role="toolbar" aria-label="Selected runs">
      <strong>{runs.length} selected</strong>
      <Button kind="primary" onClick={onCompare} disabledReason={refs.length < 2 ? "Select at least two runs." : ""}>
        Compare <kbd>c</kbd>
      </Button>
      <Button onClick={() => (dialog.value = "tag")} disabledReason={reason}>
        Tag
      </Button>
      <Button onClick={() => (dialog.value = "note")} disabledReason={reason}>
        Note
      </Button>
      <Button kind="danger" onClick={() => (dialog.value = "delete")} disabledReason={readOnlyReason.value}>
        Delete
      </Button>
      {runs.length === 1 && readable[0] && (
        <Button onClick={() => navigate(pathWith("/new", { from: runs[0]?.id }))}>Train again</Button>
      )}
      {refs.length > 0 && <CopyButton text={selectionCommand(refs)} label="Copy command" />}
      <Button onClick={onClear} title={`Clear the selection of ${countRuns(runs.length)}`}>
        Clear
      </Button>
      {dialog.value === "tag" && <TagDialog runs={readable} onClose={close} />}
      {dialog.value === "note" && <NoteDialog runs={readable} onClose={close} />}
      {dialog.value === "delete" && <DeleteDialog runs={runs} onClose={close} />}
    </div>
  );
}
