/** The search field that adds runs and groups to the comparison. */
import { useSignal } from "@preact/signals";
import { useId } from "preact/hooks";
import type { RunSummary } from "../../api/types";
import { suggestions, type Suggestion } from "./suggestions";

interface Props {
  runs: readonly RunSummary[];
  /** Ids of the runs that are in the comparison. */
  chosen: ReadonlySet<string>;
  onAdd: (ref: string) => void;
}

export function AddRuns({ runs, chosen, onAdd }: Props) {
  const search = useSignal("");
  const open = useSignal(false);
  const at = useSignal(0);
  const list = useId();
  const found = open.value ? suggestions(search.value, runs, chosen) : [];
  const index = Math.min(at.value, found.length - 1);
  const add = (entry: Suggestion | undefined) => {
    if (!entry) return;
    onAdd(entry.ref);
    search.value = "";
    at.value = 0;
    open.value = false; // what was added is below the list
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (move !== undefined) {
      event.preventDefault();
      open.value = true;
      at.value = Math.max(0, Math.min(found.length - 1, index + move));
      document.getElementById(`${list}-${at.value}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      add(found[index]);
    } else if (event.key === "Escape") {
      event.preventDefault();
      open.value = false;
    }
  };
  return (
    <div class="compare-add">
      <input
        type="text"

        role="combobox"
        data-search
        placeholder="Add a run or group"
        aria-label="Add a run or group to the comparison"
        aria-expanded={found.length > 0}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={found.length > 0 ? `${list}-${index}` : undefined}
        autocomplete="off"
        value={search.value}
        onFocus={() => (open.value = true)}
        onClick={() => (open.value = true)}
        onBlur={() => (open.value = false)}
        onInput={(event) => {
          search.value = event.currentTarget.value;
          open.value = true;
          at.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="compare-suggestions" id={list} role="listbox" aria-label="Runs and groups" hidden={found.length === 0}>
        {found.map((entry, i) => (
          <li
            key={`${entry.kind} ${entry.ref}`}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === index}
            // The field must not lose the focus before the click arrives.
            onPointerDown={(event) => event.preventDefault()}
            onPointerMove={() => (at.value = i)}
            onClick={() => add(entry)}
          >
            <span class="compare-suggestion-name">{entry.label}</span>
            <span class="muted small">{entry.kind === "group" ? `group · ${entry.detail}` : entry.detail}</span>
          </li>
        ))}
      </ul>
      {open.value && found.length === 0 && search.value !== "" && (
        <p class="compare-suggestions small muted">No other run or group matches.</p>
      )}
    </div>
  );
}
