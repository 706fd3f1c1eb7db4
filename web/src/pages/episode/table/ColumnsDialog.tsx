/** Chooses the columns of the step table. */
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { DocText } from "../../new/DocText";
import type { ColumnInfo } from "../types";
import { storeColumns } from "./storedColumns";

const GROUPS: [ColumnInfo["group"], string][] = [
  ["end", "Step and end"],
  ["observation", "Observation"],
  ["input", "Network input"],
  ["action", "Action"],
  ["policy", "Policy"],
  ["reward", "Reward"],
  ["value", "Value"],
];

interface Props {
  env: string;
  columns: readonly ColumnInfo[];
  chosen: readonly string[];
  onClose: () => void;
}

export function ColumnsDialog({ env, columns, chosen, onClose }: Props) {
  const store = (names: ReadonlySet<string>) =>
    // In the order of the table, whatever the order of choosing was.
    storeColumns(env, columns.map(({ name }) => name).filter((name) => names.has(name)));
  const toggle = (names: readonly string[], isOn: boolean) => {
    const next = new Set(chosen);
    for (const name of names) if (isOn) next.add(name); else next.delete(name);
    if (next.size) store(next);
  };
  return (
    <Dialog
      title="Columns"
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => storeColumns(env, null)}>Default columns</Button>
          <Button kind="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <div class="episode-columns">
        {GROUPS.map(([group, title]) => {
          const members = columns.filter((column) => column.group === group);
          if (!members.length) return null;
          const names = members.map(({ name }) => name);
          const isAll = names.every((name) => chosen.includes(name));
          return (
            <fieldset key={group}>
              <legend>
                {title}{" "}
                <button type="button" class="link-button" onClick={() => toggle(names, !isAll)}>
                  {isAll ? "none" : "all"}
                </button>
              </legend>
              {members.map(({ name, doc }, i) => (
                <label key={name}>
                  <input type="checkbox" checked={chosen.includes(name)} onChange={(event) => toggle([name], event.currentTarget.checked)} />
                  <span>
                    {name}{" "}
                    {doc !== members[i - 1]?.doc && (
                      <span class="muted small">
                        <DocText text={doc} />
                      </span>
                    )}
                  </span>
                </label>
              ))}
            </fieldset>
          );
        })}
      </div>
    </Dialog>
  );
}
