/** The filter of the step table, with completion of columns, operators and values. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { completed, completions, type Completion, type KnownColumn } from "./completion";
import type { FilterError } from "./filter";

/** Milliseconds without typing before an error is shown. */
const PAUSE = 500;

interface Props {
  filter: string;
  onFilter: (filter: string) => void;
  error: FilterError | undefined;
  columns: readonly KnownColumn[];
}

export function FilterField({ filter, onFilter, error, columns }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const cursor = useSignal(filter.length);
  const open = useSignal(false);
  const chosen = useSignal(-1);
  const list = useId();
  const message = useId();
  const known = useSignal(columns);
  known.value = columns;
  const text = useSignal(filter);
  text.value = filter;
  const offers = useComputed(() => completions(text.value, cursor.value, known.value));
  const entries = offers.value.entries;
  const isOpen = open.value && entries.length > 0;
  // While the user writes, every filter is wrong for a moment: the error appears after a pause.
  const isSettled = useSignal(true);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const settle = (wait: number) => {
    clearTimeout(timer.current);
    isSettled.value = wait === 0;
    if (wait) timer.current = window.setTimeout(() => (isSettled.value = true), wait);
  };
  const put = (entry: Completion) => {
    const next = completed(text.peek(), offers.peek(), entry);
    settle(PAUSE);
    onFilter(next.filter);
    cursor.value = next.cursor;
    chosen.value = -1;
    // The cursor is set when the field has the new text.
    requestAnimationFrame(() => {
      field.current?.focus();
      field.current?.setSelectionRange(next.cursor, next.cursor);
    });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      if (!isOpen) open.value = true;
      chosen.value = (chosen.value + step + entries.length + (chosen.value < 0 && step < 0 ? 1 : 0)) % Math.max(1, entries.length);
    } else if (isOpen && chosen.value >= 0 && (event.key === "Enter" || event.key === "Tab")) {
      put(entries[chosen.value] as Completion);
    } else if (event.key === "Enter") {
      open.value = false;
      settle(0);
    } else if (event.key === "Escape" && isOpen) open.value = false;
    else if (event.key === "Escape" && text.peek()) onFilter("");
    else if (event.key === "Escape") return field.current?.blur();
    else return;
    event.preventDefault();
  };
  const shownError = isSettled.value ? error : undefined;
  const moved = () => (cursor.value = field.current?.selectionStart ?? 0);
  return (
    <div class="episode-filter">
      <input
        ref={field}
        type="search"
        data-search
        role="combobox"
        list={undefined}
        value={filter}
        placeholder="Filter: advantage < -1, action = left and reward > 0   /"
        aria-label="Filter steps"
        aria-expanded={isOpen}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={isOpen && chosen.value >= 0 ? `${list}-${chosen.value}` : undefined}
        aria-invalid={shownError ? true : undefined}
        aria-describedby={shownError ? message : undefined}
        title="COLUMN < NUMBER, = TEXT, ~ PART; and, or, not, parentheses, abs(COLUMN)"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          cursor.value = event.currentTarget.selectionStart ?? event.currentTarget.value.length;
          open.value = true;
          chosen.value = -1;
          settle(PAUSE);
          onFilter(event.currentTarget.value);
        }}
        onKeyUp={moved}
        onClick={() => {
          moved();
          open.value = true;
        }}
        onBlur={() => (open.value = false)}
        onKeyDown={onKeyDown}
      />
      <div class="episode-filter-below">
        {shownError && (
          <div id={message} class="search-error" role="alert">
            <span class="error-text">
              At character {shownError.at + 1}: {shownError.message}.
            </span>{" "}
            {shownError.fix}
          </div>
        )}
        <ul id={list} class="episode-completions" role="listbox" aria-label="Completions" hidden={!isOpen}>
        {entries.map((entry, i) => (
          <li
            key={entry.text}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === chosen.value}
            onPointerDown={(event) => {
              event.preventDefault(); // the field keeps the focus
              put(entry);
            }}
          >
            <code>{entry.text}</code> <span class="muted small ellipsis">{entry.detail}</span>
          </li>
        ))}
      </ul>
      </div>
    </div>
  );
}
