/** A table: sticky header, sortable columns, rows that can be focused, and only the visible rows drawn. */
import { useSignal } from "@preact/signals";
import { Component, type ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useShortcut } from "../app/shortcuts";
import { nextSort, type Sort, type SortValue } from "./sorting";
import { visibleRows, type Visible } from "./virtual";

export interface Column<T> {
  key: string;
  label: ComponentChildren;
  /** Explains the column, on hover of its header. */
  title?: string;
  cell: (row: T) => ComponentChildren;
  /** Makes the column sortable. */
  sortValue?: (row: T) => SortValue;
  /** Whether the first click sorts the largest first. */
  descendingFirst?: boolean;
  align?: "left" | "right" | "center";
  /** Width, such as `120px`; columns keep it, so that new values move nothing. */
  width?: string;
  class?: string;
}

export interface TableProps<T> {
  /** Name of the table, for screen readers. */
  label: string;
  columns: Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  sort?: Sort | undefined;
  onSort?: (sort: Sort) => void;
  /** Keys of the rows that are selected. */
  selected?: ReadonlySet<string>;
  /** A row was chosen with space, or with a click and shift or control. */
  onSelect?: (row: T, how: { range: boolean; toggle: boolean }) => void;
  /** A row was opened with enter, `o` or a double click. */
  onOpen?: (row: T) => void;
  rowClass?: (row: T) => string;
  /** Whether `j` and `k` move between the rows; for the main table of a page. */
  hasShortcuts?: boolean;
  rowHeight?: number;
  /** Shown instead of rows if there are none. */
  empty?: ComponentChildren;
  /** Called with the row that has the focus. */
  onFocusRow?: (row: T) => void;
}

const VIRTUAL_ABOVE = 100;

export function Table<T>(props: TableProps<T>) {
  const { label, columns, rows, rowKey, sort, onSort, selected, rowHeight = 28, empty } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const body = useRef<HTMLTableSectionElement>(null);
  const focused = useSignal<string | null>(null);
  const isVirtual = rows.length > VIRTUAL_ABOVE;
  const visible = useSignal<Visible>({ first: 0, end: VIRTUAL_ABOVE });
  const wanted = useRef<number | null>(null);

  useEffect(() => {
    if (!isVirtual) return undefined;
    const measure = () => {
      const box = scroll.current?.getBoundingClientRect();
      const start = body.current?.getBoundingClientRect().top;
      if (!box || start === undefined) return;
      const from = Math.max(0, box.top);
      const to = Math.min(window.innerHeight, box.bottom);
      const next = visibleRows(from - start, Math.max(0, to - from), rowHeight, rows.length);
      const now = visible.peek();
      if (next.first !== now.first || next.end !== now.end) visible.value = next;
    };
    measure();
    document.addEventListener("scroll", measure, { capture: true, passive: true });
    window.addEventListener("resize", measure);
    return () => {
      document.removeEventListener("scroll", measure, { capture: true });
      window.removeEventListener("resize", measure);
    };
  }, [isVirtual, rows.length, rowHeight]);

  const { first, end } = isVirtual ? visible.value : { first: 0, end: rows.length };
  const indexOf = (key: string | null) => (key === null ? -1 : rows.findIndex((row) => rowKey(row) === key));
  const focusedIndex = indexOf(focused.value);
  const tabStop = focusedIndex >= 0 ? focusedIndex : 0;

  /** Focuses a row; one that is not drawn yet gets the focus as soon as it is. */
  const focusRow = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    const at = rows.indexOf(row);
    focused.value = rowKey(row);
    props.onFocusRow?.(row);
    const element = body.current?.querySelector<HTMLElement>(`tr[data-index="${at}"]`);
    if (element) {
      element.focus({ preventScroll: true });
      element.scrollIntoView({ block: "nearest" });
      return;
    }
    wanted.current = at;
    const box = scroll.current;
    if (box) box.scrollTop = at * rowHeight - box.clientHeight / 2;
  };
  useEffect(() => {
    if (wanted.current === null) return;
    const element = body.current?.querySelector<HTMLElement>(`tr[data-index="${wanted.current}"]`);
    if (!element) return;
    wanted.current = null;
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest" });
  }, [first, end]);

  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (target.tagName !== "TR") return; // a button or field inside a row has its own keys
    const index = Number(target.dataset["index"]);
    const row = rows[index];
    const moves: Record<string, number> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + 20,
      PageUp: index - 20,
      Home: 0,
      End: rows.length - 1,
    };
    const move = moves[event.key];
    if (move !== undefined) focusRow(move);
    else if (event.key === "Enter" && row !== undefined && props.onOpen) props.onOpen(row);
    else if (event.key === " " && row !== undefined && props.onSelect) {
      props.onSelect(row, { range: event.shiftKey, toggle: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={scroll} class="table-scroll">
      {props.hasShortcuts && <RowShortcuts onMove={(step) => focusRow(focusedIndex < 0 ? 0 : focusedIndex + step)} />}
      <table class="table" aria-label={label} aria-rowcount={rows.length + 1} style={{ "--row-height": `${rowHeight}px` }}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <Head key={column.key} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody ref={body} onKeyDown={onKeyDown}>
          {first > 0 && <Space height={first * rowHeight} columns={columns.length} />}
          {rows.slice(first, end).map((row, i) => {
            const key = rowKey(row);
            const index = first + i;
            return (
              <Row
                key={key}
                row={row}
                columns={columns}
                index={index}
                isTabStop={index === tabStop}
                isSelected={selected ? selected.has(key) : undefined}
                class={props.rowClass?.(row) ?? ""}
                onFocus={() => {
                  focused.value = key;
                  props.onFocusRow?.(row);
                }}
                onSelect={props.onSelect}
                onOpen={props.onOpen}
              />
            );
          })}
          {end < rows.length && <Space height={(rows.length - end) * rowHeight} columns={columns.length} />}
          {!rows.length && empty && (
            <tr class="empty-row">
              <td colSpan={columns.length}>{empty}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}

function RowShortcuts({ onMove }: { onMove: (step: number) => void }) {
  useShortcut("j", "Next row", () => onMove(1));
  useShortcut("k", "Previous row", () => onMove(-1));
  return null;
}

function Space({ height, columns }: { height: number; columns: number }) {
  return (
    <tr aria-hidden="true" class="space-row">
      <td colSpan={columns} style={{ height: `${height}px` }} />
    </tr>
  );
}

interface HeadProps<T> {
  column: Column<T>;
  sort: Sort | undefined;
  onSort: ((sort: Sort) => void) | undefined;
}

function Head<T>({ column, sort, onSort }: HeadProps<T>) {
  const isSortable = column.sortValue !== undefined && onSort !== undefined;
  const direction = sort?.key === column.key ? (sort.descending ? "descending" : "ascending") : undefined;
  return (
    <th
      scope="col"
      class={`${column.align ?? "left"} ${column.class ?? ""}`}
      style={column.width ? { width: column.width, minWidth: column.width } : undefined}
      aria-sort={isSortable ? (direction ?? "none") : undefined}
      title={column.title}
    >
      {isSortable ? (
        <button type="button" onClick={() => onSort(nextSort(sort, column.key, column.descendingFirst ?? false))}>
          {column.label}
          <span class="sort-mark" aria-hidden="true">
            {direction === "ascending" ? "▲" : direction === "descending" ? "▼" : ""}
          </span>
        </button>
      ) : (
        column.label
      )}
    </th>
  );
}

interface RowProps<T> {
  row: T;
  columns: Column<T>[];
  index: number;
  isTabStop: boolean;
  isSelected: boolean | undefined;
  class: string;
  onFocus: () => void;
  onSelect: TableProps<T>["onSelect"];
  onOpen: TableProps<T>["onOpen"];
}

/** One row; drawn again only if its data, place or selection changed. */
class Row<T> extends Component<RowProps<T>> {
  override shouldComponentUpdate(next: RowProps<T>): boolean {
    const now = this.props;
    return (
      next.row !== now.row ||
      next.columns !== now.columns ||
      next.index !== now.index ||
      next.isTabStop !== now.isTabStop ||
      next.isSelected !== now.isSelected ||
      next.class !== now.class
    );
  }

  override render() {
    const { row, columns, index, isTabStop, isSelected } = this.props;
    return (
      <tr
        data-index={index}
        class={`${index % 2 ? "odd " : ""}${this.props.class}`}
        tabIndex={isTabStop ? 0 : -1}
        aria-rowindex={index + 2}
        aria-selected={isSelected}
        onFocus={() => this.props.onFocus()}
        onClick={(event) => {
          if ((event.target as HTMLElement).closest("a, button, input, select, label")) return;
          const { shiftKey, ctrlKey, metaKey } = event;
          if (shiftKey || ctrlKey || metaKey) this.props.onSelect?.(row, { range: shiftKey, toggle: !shiftKey });
        }}
        onDblClick={() => this.props.onOpen?.(row)}
      >
        {columns.map((column) => (
          <td key={column.key} class={`${column.align ?? "left"} ${column.class ?? ""}`}>
            {column.cell(row)}
          </td>
        ))}
      </tr>
    );
  }
}
