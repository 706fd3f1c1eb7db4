/** The overview: one row per run, as in run_overview.csv. */
import { useMemo } from "preact/hooks";
import type { OverviewRow } from "../../api/types";
import { Link, runPath } from "../../app/router";
import type { Ink } from "../../chart/colors";
import { Swatch } from "../../chart/Legend";
import { sortedBy, type Sort } from "../../ui/sorting";
import { Table, type Column } from "../../ui/Table";
import { numberColumns, type OverviewColumn } from "./overview";

interface Props {
  rows: readonly OverviewRow[];
  /** Approach -> its color in the charts. */
  inks: ReadonlyMap<string, Ink>;
  /** Ids of the runs that have a page: not those that were read from files. */
  known: ReadonlySet<string>;
  sort: Sort | undefined;
  onSort: (sort: Sort) => void;
}

export function OverviewTable({ rows, inks, known, sort, onSort }: Props) {
  const columns = useMemo(
    () => [approachColumn(inks), runColumn(known), ...numberColumns(rows).map(numberColumn), alertColumn(known), VERDICT],
    [rows, inks, known],
  );
  const value = columns.find((column) => column.key === sort?.key)?.sortValue;
  return (
    <div class="monitor-overview">
      <Table
        label="Overview of the runs"
        columns={columns}
        rows={value && sort ? sortedBy(rows, value, sort.descending) : rows}
        rowKey={(row) => row.run}
        sort={sort}
        onSort={onSort}
        rowHeight={34}
        hasShortcuts
      />
    </div>
  );
}

function approachColumn(inks: ReadonlyMap<string, Ink>): Column<OverviewRow> {
  return {
    key: "approach",
    label: "approach",
    title: "The tag of the run if it has exactly one, else the variant of its preset.",
    sortValue: (row) => row.approach,
    cell: ({ approach }) => (
      <span class="monitor-name" title={approach}>
        <Swatch color={inks.get(approach)?.color ?? "var(--muted)"} dash={inks.get(approach)?.dash} />
        <span class="ellipsis">{approach}</span>
      </span>
    ),
  };
}

function runColumn(known: ReadonlySet<string>): Column<OverviewRow> {
  return {
    key: "run",
    label: "run",
    title: "The run, its seed and status.",
    class: "monitor-run",
    sortValue: (row) => row.name || row.run,
    cell: (row) => {
      const name = row.name || row.run;
      return (
        <span class="monitor-cell" title={`${name}\n${row.run}\n${row.sources.join("\n")}`}>
          {known.has(row.run) ? (
            <Link class="ellipsis" to={runPath(row.run)}>
              {name}
            </Link>
          ) : (
            <span class="ellipsis">{name}</span>
          )}
          <span class="monitor-detail">{[row.seed === null ? "" : `seed ${row.seed}`, row.status].filter(Boolean).join(" · ")}</span>
        </span>
      );
    },
  };
}

function numberColumn(column: OverviewColumn): Column<OverviewRow> {
  return {
    key: column.key,
    label: (
      <span class="monitor-title">
        {column.scope && <span class="monitor-scope">{column.scope} </span>}
        {column.title}
      </span>
    ),
    title: column.help,
    align: "right",
    descendingFirst: true,
    sortValue: column.value,
    cell: (row) => {
      const cell = column.cell(row);
      if (cell === null) return <span class="muted">-</span>;
      return (
        <span class="monitor-cell right" title={cell.exact}>
          <span class="num">{cell.text}</span>
          {cell.detail && <span class="monitor-detail num">{cell.detail}</span>}
        </span>
      );
    },
  };
}

function alertColumn(known: ReadonlySet<string>): Column<OverviewRow> {
  return {
    key: "alerts",
    label: "alerts",
    title: "Number of alerts of the diagnosis.",
    align: "right",
    descendingFirst: true,
    sortValue: (row) => row.alerts,
    cell: ({ run, alerts }) =>
      alerts > 0 && known.has(run) ? (
        <Link class="num" to={runPath(run, "diagnosis")}>
          {alerts}
        </Link>
      ) : (
        <span class="num">{alerts}</span>
      ),
  };
}

const VERDICT: Column<OverviewRow> = {
  key: "verdict",
  label: "verdict",
  title: "Whether the run is solved; empty without a threshold.",
  sortValue: (row) => row.verdict || null,
  cell: ({ verdict }) => (
    <span class="ellipsis monitor-verdict" title={verdict}>
      {verdict || "-"}
    </span>
  ),
};
