/** The live table of runs. */

import type { Signal } from "@preact/signals";
import { useCallback, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { navigate, runPath } from "../../app/router";
import type { Sort } from "../../ui/sorting";
import { Table, type Column as TableColumn } from "../../ui/Table";
import { runCell } from "./Cell";
import { chosenColumns, minimumWidth, SELECT_WIDTH, type Column } from "./columns";
import { groupCell } from "./GroupCell";
import { isGroup, type TableRow } from "./grouping";
import { selectRange, toggle, toggleAll, type Selection } from "./selection";

interface Props {
  rows: TableRow[];
  columnIds: readonly string[];
  sort: Sort;
  onSort: (sort: Sort) => void;
  selection: Signal<Selection>;
  onToggleGroup: (key: string) => void;
  onFocusRow: (row: TableRow) => void;
  isCompact: boolean;
}

/** Where the table was scrolled to when it was last shown. */
let scrolled = 0;

type Pick = (row: TableRow, isRange: boolean) => void;

export function RunsTable({ rows, columnIds, sort, onSort, selection, onToggleGroup, onFocusRow, isCompact }: Props) {
  const columns = useMemo(() => chosenColumns(columnIds), [columnIds]);
  const shown = useRef(rows);
  shown.current = rows;
  const pick: Pick = useCallback((row, isRange) => {
    selection.value = selected(selection.peek(), row, isRange, shown.current);
  }, []);
  const tableColumns = useMemo(
    () => [selectColumn(selection, pick), ...columns.map((column) => tableColumn(column, onToggleGroup))],
    [columns, selection, onToggleGroup],
  );
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const scroller = box.current?.querySelector(".table-scroll");
    if (scroller) scroller.scrollTop = scrolled;
  }, []);
  return (
    <div
      ref={box}
      class={isCompact ? "runs-table compact" : "runs-table"}
      onScrollCapture={(event) => (scrolled = (event.target as HTMLElement).scrollTop)}
      style={{ "--table-width": `${minimumWidth(columns)}px` }}
    >
      <Table
        label="Runs"
        columns={tableColumns}
        rows={rows}
        rowKey={rowKey}
        sort={sort}
        onSort={onSort}
        selected={selection.value.ids}
        onSelect={(row, how) => pick(row, how.range)}
        onOpen={(row) => (isGroup(row) ? onToggleGroup(row.key) : navigate(runPath(row.id)))}
        rowClass={rowClass}
        rowHeight={isCompact ? 40 : 28}
        onFocusRow={onFocusRow}
        hasShortcuts
      />
    </div>
  );
}

/** Returns the selection after a row was selected; that of a group selects its runs. */
export function selected(before: Selection, row: TableRow, isRange: boolean, rows: readonly TableRow[]): Selection {
  if (isGroup(row)) return toggleAll(before, row.runs.map((run) => run.id));
  const order = rows.flatMap((other) => (isGroup(other) ? [] : [other.id]));
  return isRange ? selectRange(before, row.id, order) : toggle(before, row.id);
}

export function rowKey(row: TableRow): string {
  return isGroup(row) ? `group ${row.key}` : row.id;
}

function rowClass(row: TableRow): string {
  if (isGroup(row)) return "group-row";
  return row.problem ? "unreadable-row" : "";
}

function tableColumn(column: Column, onToggleGroup: (key: string) => void): TableColumn<TableRow> {
  return {
    key: column.id,
    label: column.title,
    title: column.help,
    cell: (row) => (isGroup(row) ? groupCell(row, column.id, onToggleGroup) : runCell(row, column.id)),
    sortValue: (row) => (isGroup(row) ? null : column.value(row)),
    descendingFirst: column.largestFirst,
    align: column.numeric ? "right" : "left",
    ...(column.width === null ? {} : { width: `${column.width}px` }),
    class: `column-${column.id}`,
  };
}

/** The check boxes. They read the selection themselves, so that a row need not be drawn again. */
function selectColumn(selection: Signal<Selection>, pick: Pick): TableColumn<TableRow> {
  return {
    key: "select",
    label: <span class="visually-hidden">Selected</span>,
    cell: (row) => <SelectBox row={row} selection={selection} pick={pick} />,
    width: `${SELECT_WIDTH}px`,
    class: "column-select",
  };
}

function SelectBox({ row, selection, pick }: { row: TableRow; selection: Signal<Selection>; pick: Pick }) {
  const runs = isGroup(row) ? row.runs : [row];
  const count = runs.filter((run) => selection.value.ids.has(run.id)).length;
  const label = isGroup(row) ? `the runs of ${row.label || "no group"}` : row.name || row.id;
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label={`Select ${label}`}
      checked={count === runs.length}
      indeterminate={count > 0 && count < runs.length}
      onClick={(event) => pick(row, event.shiftKey)}
    />
  );
}
