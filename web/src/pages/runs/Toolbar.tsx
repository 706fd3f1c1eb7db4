/** Search, number of runs, columns and command; or what can be done with the selected runs. */

import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { ApiError } from "../../api/client";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import { ColumnsDialog } from "./ColumnsDialog";
import { runsCommand } from "./commands";
import { SearchField } from "./SearchField";
import { split } from "./words";

interface Props {
  filter: string;
  onFilter: (filter: string) => void;
  error: ApiError | undefined;
  shown: number | undefined;
  total: number | undefined;
  /** The filter panel, if there is no room for it next to the table. */
  panel: ComponentChildren | null;
  /** Takes the place of the buttons while runs are selected. */
  children: ComponentChildren;
}

export function Toolbar({ filter, onFilter, error, shown, total, panel, children }: Props) {
  const dialog = useSignal<"columns" | "filters" | null>(null);
  const close = () => (dialog.value = null);
  return (
    <div class="runs-toolbar">
      <SearchField filter={filter} onFilter={onFilter} error={error} />
      {panel && (
        <Button onClick={() => (dialog.value = "filters")}>
          Filters{split(filter).length ? ` (${split(filter).length})` : ""}
        </Button>
      )}
      {children || (
        <>
          <span class="muted run-count" role="status">
            {countText(shown, total)}
          </span>
          {!panel && <Button onClick={() => (dialog.value = "columns")}>Columns</Button>}
          {!panel && <CopyButton text={runsCommand(filter)} label="Copy command" />}
        </>
      )}
      {dialog.value === "columns" && <ColumnsDialog onClose={close} />}
      {dialog.value === "filters" && (
        <Dialog title="Filters" onClose={close} className="sheet" actions={<Button kind="primary" onClick={close}>Show {shown ?? 0} runs</Button>}>
          {panel}
        </Dialog>
      )}
    </div>
  );
}

function countText(shown: number | undefined, total: number | undefined): string {
  if (shown === undefined || total === undefined) return "";
  const all = total.toLocaleString("en");
  return shown === total ? `${all} ${total === 1 ? "run" : "runs"}` : `${shown.toLocaleString("en")} of ${all} runs`;
}
