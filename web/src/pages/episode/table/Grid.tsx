/** The rows of the step table. Only the visible rows and columns are drawn, and the current row stays in view. */
import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { nextSort, type Sort } from "../../../ui/sorting";
import { visibleRows } from "../../../ui/virtual";
import { cellText } from "../format";
import { Throttle } from "../../run/parts/throttle";
import { useEpisode } from "../store";
import type { Cell, ColumnInfo } from "../types";
import { headText, placedColumns, ROW_HEIGHT, rowOf, scrolledTo, visibleColumns, type Placed } from "./view";

const HEAD_HEIGHT = 26;
const NONE: Placed[] = [];
/** Rows that are drawn outside the view. */
const EXTRA = 3;
/** Milliseconds between two jumps of the view to the current row, so that scrubbing stays fluid. */
const FOLLOW_PAUSE = 90;

interface Props {
  columns: readonly ColumnInfo[];
  /** The steps to show, in order. */
  steps: Int32Array;
  sort: Sort | undefined;
  onSort: (sort: Sort | undefined) => void;
}

export function Grid({ columns, steps, sort, onSort }: Props) {
  const store = useEpisode();
  const box = useRef<HTMLDivElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  const top = useSignal(0);
  const left = useSignal(0);
  const variation = store.variation.value;
  const inspection = store.inspection.value;
  const placed = useMemo(() => placedColumns(columns, (name) => store.labeled(name), cellText), [columns, inspection, variation]);
  const rows = useSignal(steps);
  rows.value = steps;
  const isSorted = useSignal(sort !== undefined);
  isSorted.value = sort !== undefined;

  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => {
      size.value = { width: element.clientWidth, height: Math.max(0, element.clientHeight - HEAD_HEIGHT) };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const current = useComputed(() => rowOf(rows.value, store.shown.value, isSorted.value));
  const follow = useMemo(() => {
    const jump = () => {
      const next = scrolledTo(current.peek().row, top.peek(), size.peek().height, rows.peek().length);
      if (next === top.peek() || !box.current) return;
      // The rows are drawn with the new position at once, not after the event of scrolling.
      top.value = next;
      box.current.scrollTop = next;
    };
    return new Throttle(FOLLOW_PAUSE, jump);
  }, []);
  useEffect(() => () => follow.stop(), []);
  useSignalEffect(() => {
    const { row } = current.value;
    const { height } = size.value;
    if (height && scrolledTo(row, top.peek(), height, rows.value.length) !== top.peek()) follow.soon();
  });

  const visible = useComputed(() => visibleRows(top.value, size.value.height, ROW_HEIGHT, rows.value.length, EXTRA));
  // The first column stays at the left edge.
  const shown = useMemo(() => {
    const [first, ...others] = placed;
    return first ? [first, ...visibleColumns(others, left.value, size.value.width)] : NONE;
  }, [placed, left.value, size.value.width]);
  const whole = placed.reduce((sum, { width }) => sum + width, 0);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor(size.peek().height / ROW_HEIGHT) - 1);
    const move = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
    if (move === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const { row, isThere } = current.peek();
    const next = steps[Math.max(0, Math.min(steps.length - 1, isThere || move < 0 ? row + move : row))];
    if (next !== undefined) store.seek(next);
  };
  return (
    <div
      ref={box}
      class="episode-grid"
      role="table"
      tabIndex={0}
      aria-label="Steps"
      aria-rowcount={steps.length + 1}
      aria-colcount={columns.length}
      onKeyDown={onKeyDown}
      onScroll={(event) => {
        top.value = event.currentTarget.scrollTop;
        left.value = event.currentTarget.scrollLeft;
      }}
    >
      <div class="episode-grid-head" role="rowgroup" style={{ width: `${whole}px` }}>
        <div role="row" aria-rowindex={1}>
          {shown.map((column) => (
            <Head key={column.column.name} placed={column} index={placed.indexOf(column)} sort={sort} onSort={onSort} />
          ))}
        </div>
      </div>
      <div class="episode-grid-body" role="rowgroup" style={{ width: `${whole}px`, height: `${steps.length * ROW_HEIGHT}px` }}>
        <Rows visible={visible} steps={rows} columns={shown} current={current} placed={placed} />
      </div>
      {!steps.length && <p class="episode-grid-empty muted">No step fits the filter.</p>}
    </div>
  );
}

interface HeadProps {
  placed: Placed;
  index: number;
  sort: Sort | undefined;
  onSort: (sort: Sort | undefined) => void;
}

function Head({ placed: { column, left, width, isText }, index, sort, onSort }: HeadProps) {
  const direction = sort?.key === column.name ? (sort.descending ? "descending" : "ascending") : "none";
  // The third click returns to the order of time.
  const next = () => onSort(sort?.key === column.name && !sort.descending ? undefined : nextSort(sort, column.name, !isText));
  return (
    <div
      role="columnheader"
      class={isText ? "text" : ""}
      aria-sort={direction}
      aria-colindex={index + 1}
      data-column={column.name}
      style={left ? `left:${left}px;width:${width}px` : `width:${width}px`}
    >
      <button type="button" class="ellipsis" onClick={next}>
        {headText(column)}
        {direction !== "none" && (
          <span class="sort-mark" aria-hidden="true">
            {direction === "ascending" ? "▲" : "▼"}
          </span>
        )}
      </button>
    </div>
  );
}

interface RowsProps {
  visible: ReadonlySignal<{ first: number; end: number }>;
  steps: ReadonlySignal<Int32Array>;
  columns: readonly Placed[];
  placed: readonly Placed[];
  current: ReadonlySignal<{ row: number; isThere: boolean }>;
}

function Rows({ visible, steps, columns, placed, current }: RowsProps) {
  const store = useEpisode();
  const anchor = useRef<HTMLSpanElement>(null);
  const marked = useRef<Element | null>(null);
  // The current row is marked without drawing any row again.
  const mark = () => {
    const { row, isThere } = current.value;
    const found = isThere ? anchor.current?.parentElement?.querySelector(`[aria-rowindex="${row + 2}"]`) : null;
    if (found === marked.current) return;
    marked.current?.removeAttribute("aria-current");
    found?.setAttribute("aria-current", "step");
    marked.current = found ?? null;
  };
  useSignalEffect(mark);
  useLayoutEffect(mark);
  const { first, end } = visible.value;
  const values = columns.map(({ column }) => store.labeled(column.name));
  const styles = columns.map(({ left, width }, i) => (i ? `left:${left}px;width:${width}px` : `width:${width}px`));
  const indices = columns.map((column) => placed.indexOf(column));
  const count = end - first;
  const rows = [];
  for (let row = first; row < end; row++) {
    const step = steps.value[row] as number;
    rows.push(
      // Elements of rows that left the view are used again for those that entered it.
      <div key={row % count} role="row" aria-rowindex={row + 2} style={`top:${row * ROW_HEIGHT}px`} onClick={() => store.seek(step)}>
        {columns.map(({ column, isText }, i) => (
          <Cell key={column.name} value={values[i]?.[step]} style={styles[i] as string} isText={isText} index={indices[i] as number} />
        ))}
      </div>,
    );
  }
  return (
    <>
      <span ref={anchor} hidden />
      {rows}
    </>
  );
}

interface CellProps {
  value: Cell | undefined;
  style: string;
  isText: boolean;
  index: number;
}

function Cell({ value, style, isText, index }: CellProps) {
  return (
    <div role="cell" aria-colindex={index + 1} class={isText ? "text" : undefined} style={style}>
      {value === false ? "" : cellText(value)}
    </div>
  );
}
