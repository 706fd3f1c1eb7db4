/** The table of the comparison: one row per side, judged against the baseline. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { Swatch } from "../../chart/Legend";
import { formatCount, formatDuration, formatNumber, fullPrecision } from "../../ui/numbers";
import type { Sort } from "../../ui/sorting";
import { Table, type Column as TableColumn } from "../../ui/Table";
import { judgmentClass, judgmentSign, judgmentText, type Estimate } from "./judgment";
import { filledColumns, sortResults, type Column, type ColumnId, type SideResult } from "./results";
import type { SideStyles } from "./styles";

interface Props {
  rows: readonly SideResult[];
  baseline: SideResult | undefined;
  highlighted: ReadonlySignal<string>;
  styles: SideStyles;
  onHighlight: (ref: string) => void;
}

export function ResultTable({ rows, baseline, highlighted, styles, onHighlight }: Props) {
  const sort = useSignal<Sort | undefined>(undefined);
  const baselineName = baseline?.side.label ?? "";
  const filled = filledColumns(rows);
  const columns = useMemo(
    () => [nameColumn(baseline, styles), ...filled.map((column) => valueColumn(column, baselineName))],
    [baseline?.side.ref, baselineName, styles, filled.map((column) => column.id).join()],
  );
  const shown = sort.value ? sortResults(rows, sort.value.key as ColumnId | "name", sort.value.descending) : rows;
  const onPointer = (event: PointerEvent) => {
    const row = (event.target as HTMLElement).closest<HTMLElement>("tr[data-index]");
    onHighlight(row ? (shown[Number(row.dataset["index"])]?.side.ref ?? "") : "");
  };
  return (
    <div class="compare-results" onPointerOver={onPointer} onPointerLeave={() => onHighlight("")}>
      <Table
        label="Results of each side"
        columns={columns}
        rows={shown}
        rowKey={(row) => row.side.ref}
        sort={sort.value}
        onSort={(next) => (sort.value = next)}
        rowHeight={36}
        rowClass={(row) => (row.side.ref === highlighted.value ? "highlighted" : "")}
        onFocusRow={(row) => onHighlight(row.side.ref)}
      />
    </div>
  );
}

function nameColumn(baseline: SideResult | undefined, styles: SideStyles): TableColumn<SideResult> {
  return {
    key: "name",
    label: "side",
    class: "compare-name",
    sortValue: (row) => row.side.label,
    cell: ({ side }) => (
      <span class="compare-side-name" title={`${side.label}\n${side.runs.join(" ")}`}>
        <Swatch color={styles.color(side.ref)} dash={styles.dash(side.ref)} />
        <span class="compare-two-lines">
          <span class="ellipsis">{side.label}</span>
          {side.ref === baseline?.side.ref && <span class="compare-interval">baseline</span>}
        </span>
      </span>
    ),
  };
}

function valueColumn(column: Column, baseline: string): TableColumn<SideResult> {
  return {
    key: column.id,
    label: column.title,
    title: column.help,
    align: "right",
    descendingFirst: column.better !== "lower",
    sortValue: (row) => row.cells[column.id].value,
    cell: (row) => <Cell row={row} column={column} baseline={baseline} />,
  };
}

function Cell({ row, column, baseline }: { row: SideResult; column: Column; baseline: string }) {
  const estimate = row.cells[column.id];
  if (estimate.value === null) return <span class="muted">–</span>;
  const judgment = row.judgments[column.id];
  const words = judgmentText(judgment, baseline);
  const isGroup = row.side.runs.length > 1;
  const isGoal = column.id === "steps" || column.id === "seconds";
  const note = isGoal && isGroup ? `${row.reached} of ${row.side.runs.length}` : intervalText(column.id, estimate);
  return (
    <span class={`compare-cell ${judgmentClass(judgment)}`} title={[exactText(estimate), words].filter(Boolean).join("\n")}>
      <span class="num">
        {judgmentSign(judgment) && (
          <span class="compare-sign" role="img" aria-label={words}>
            {judgmentSign(judgment)}
          </span>
        )}
        {valueText(column.id, estimate.value)}
      </span>
      {note && <span class="compare-interval">{note}</span>}
    </span>
  );
}

function valueText(id: ColumnId, value: number): string {
  if (id === "steps" || id === "n") return formatCount(value);
  if (id === "seconds") return formatDuration(value);
  return formatNumber(value);
}

function intervalText(id: ColumnId, { low, high }: Estimate): string {
  if (low === null || high === null) return "";
  return `[${valueText(id, low)}, ${valueText(id, high)}]`;
}

/** Returns all digits of the record. */
function exactText({ value, low, high }: Estimate): string {
  const center = value === null ? "" : fullPrecision(value);
  return low === null || high === null ? center : `${center} [${fullPrecision(low)}, ${fullPrecision(high)}]`;
}
