/** Chooses the columns of the table. */

import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { COLUMNS, DEFAULT_COLUMNS } from "./columns";
import { storeColumns, storedColumns } from "./storedColumns";

/** Without a name, rows could not be told apart. */
const ALWAYS = "name";

export function ColumnsDialog({ onClose }: { onClose: () => void }) {
  const chosen = storedColumns.value;
  const toggle = (id: string) =>
    storeColumns(chosen.includes(id) ? chosen.filter((other) => other !== id) : [...chosen, id]);
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => storeColumns(DEFAULT_COLUMNS)}>Default columns</Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <ul class="column-list">
        {COLUMNS.filter((column) => column.id !== ALWAYS).map((column) => (
          <li key={column.id}>
            <label>
              <input type="checkbox" checked={chosen.includes(column.id)} onChange={() => toggle(column.id)} />
              <span>
                {column.title} <span class="muted small">{column.help}</span>
              </span>
            </label>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
