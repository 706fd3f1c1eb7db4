/** The first page: a live table of all runs. */

import { signal } from "@preact/signals";
import { useCallback, useEffect, useMemo, useRef } from "preact/hooks";
import { useRuns } from "../../api/runs";
import type { RunSummary } from "../../api/types";
import { useActions } from "../../app/palette";
import { navigate, pathWith, route, runPath } from "../../app/router";
import { useShortcut } from "../../app/shortcuts";
import { ErrorState, Loading } from "../../ui/states";
import { toast } from "../../ui/toast";
import { useIsNarrow } from "../../ui/useIsNarrow";
import { Queue } from "../new/Queue";
import { useJobs } from "../new/useJobs";
import { waitingJobs } from "../new/waitingJobs";
import { COLUMNS, columnById, COMPACT_COLUMNS } from "./columns";
import { NoMatch, NoRuns } from "./EmptyRuns";
import { FilterPanel } from "./FilterPanel";
import { isGroup, tableRows, type TableRow } from "./grouping";
import { RunsTable, selected } from "./RunsTable";
import "./dialogs.css";
import "./runs.css";
import "./table.css";
import { SelectionBar } from "./SelectionBar";
import { keepExisting, NOTHING_SELECTED, type Selection } from "./selection";
import { compareRefs } from "./sides";
import { storedColumns } from "./storedColumns";
import { Toolbar } from "./Toolbar";
import { useFiltered } from "./useFiltered";
import { parseView, viewPath, type View } from "./view";

const COLUMN_IDS = COLUMNS.map((column) => column.id);
const NO_RUNS: RunSummary[] = [];
// Kept while other pages are shown, so that the table is as it was when one comes back.
const selection = signal<Selection>(NOTHING_SELECTED);
const closed = signal<ReadonlySet<string>>(new Set());

export default function RunsPage() {
  const { runs: all, error: streamError } = useRuns();
  const isNarrow = useIsNarrow();
  const view = parseView(route.value.params, COLUMN_IDS);
  const runs = all.value;
  const filtered = useFiltered(view.filter, runs);
  const focused = useRef<TableRow | null>(null);
  const jobs = useJobs();
  const show = useCallback((change: Partial<View>) => {
    const now = parseView(route.peek().params, COLUMN_IDS);
    navigate(viewPath({ ...now, ...change }), { replace: true });
  }, []);
  const toggleGroup = useCallback((key: string) => {
    const next = new Set(closed.peek());
    if (!next.delete(key)) next.add(key);
    closed.value = next;
  }, []);

  const shown = filtered.runs;
  const { key, descending } = view.sort;
  const rows = useMemo(() => {
    const value = columnById(key)?.value ?? (() => null);
    return tableRows(shown ?? NO_RUNS, view.grouping, { value, descending }, closed.value);
  }, [shown, key, descending, view.grouping, closed.value]);

  useEffect(() => {
    const ids = new Set(runs?.map((run) => run.id));
    if (runs) selection.value = keepExisting(selection.peek(), (id) => ids.has(id));
  }, [runs]);
  const chosen = useMemo(() => runs?.filter((run) => selection.value.ids.has(run.id)) ?? NO_RUNS, [runs, selection.value]);
  const refs = compareRefs(selection.value.ids, runs ?? NO_RUNS);
  const compare = () => {
    if (refs.length > 1) navigate(pathWith("/compare", { runs: refs.join(",") }));
    else toast("Select at least two runs to compare: x selects the focused one, shift-click a range.");
  };
  const withFocused = (use: (row: TableRow) => void) => () => focused.current && use(focused.current);
  useShortcut("x", "Select the focused run", withFocused((row) => {
    selection.value = selected(selection.peek(), row, false, rows);
  }));
  useShortcut("X", "Select all runs from the last selected one to the focused one", withFocused((row) => {
    selection.value = selected(selection.peek(), row, true, rows);
  }));
  useShortcut("enter", "Open the focused run", withFocused((row) => {
    if (isGroup(row)) toggleGroup(row.key);
    else navigate(runPath(row.id));
  }));
  useShortcut("c", "Compare the selected runs", compare);
  useShortcut("escape", "Clear the selection", () => (selection.value = NOTHING_SELECTED));
  useActions(() => [
    { id: "compare selected", label: "Compare the selected runs", kind: "action", run: compare },
    ...(["none", "environment", "variant", "seeds"] as const).map((grouping) => ({
      id: `group ${grouping}`,
      label: grouping === "none" ? "Do not group the runs" : `Group the runs by ${grouping === "seeds" ? "seed group" : grouping}`,
      kind: "action",
      run: () => show({ grouping }),
    })),
  ]);

  if (streamError.value && !runs) return <ErrorState error={streamError.value} />;
  const waiting = waitingJobs(jobs.data.value ?? []);
  const panel = (
    <FilterPanel
      runs={runs ?? NO_RUNS}
      filter={view.filter}
      onFilter={(filter) => show({ filter })}
      grouping={view.grouping}
      onGrouping={(grouping) => show({ grouping })}
    />
  );
  return (
    <div class="runs-page">
      <h1 class="visually-hidden">Runs</h1>
      {!isNarrow && (
        <aside class="filter-panel" aria-label="Filters">
          {panel}
        </aside>
      )}
      <div class="runs-main">
        <Toolbar
          filter={view.filter}
          onFilter={(filter) => show({ filter })}
          error={filtered.error}
          shown={shown?.length}
          total={runs?.length}
          panel={isNarrow ? panel : null}
        >
          {chosen.length > 0 && (
            <SelectionBar
              runs={chosen}
              refs={refs}
              onCompare={compare}
              onClear={() => (selection.value = NOTHING_SELECTED)}
            />
          )}
        </Toolbar>
        {!shown ? (
          <Loading what="the runs" rows={24} />
        ) : runs?.length === 0 ? (
          <NoRuns />
        ) : shown.length === 0 ? (
          <NoMatch filter={view.filter} onClear={() => show({ filter: "" })} />
        ) : (
          <RunsTable
            rows={rows}
            columnIds={isNarrow ? COMPACT_COLUMNS : storedColumns.value}
            sort={view.sort}
            onSort={(sort) => show({ sort })}
            selection={selection}
            onToggleGroup={toggleGroup}
            onFocusRow={(row) => (focused.current = row)}
            isCompact={isNarrow}
          />
        )}
        <Queue jobs={waiting} />
      </div>
    </div>
  );
}

