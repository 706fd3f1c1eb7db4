/** The rows of the runs table: runs, in groups if wanted. */

import type { RunSummary } from "../../api/types";
import { sortedBy, type SortValue } from "../../ui/sorting";
import type { Grouping } from "./view";

export interface RunGroup {
  key: string;
  /** Its title; empty for runs that belong to no group. */
  label: string;
  /** In the order of the table. */
  runs: RunSummary[];
}

/** The row above the runs of a group. */
export interface GroupRow extends RunGroup {
  /** Whether its runs are shown. */
  open: boolean;
}

export type TableRow = RunSummary | GroupRow;

export interface Order {
  value: (run: RunSummary) => SortValue;
  descending: boolean;
}

export function isGroup(row: TableRow): row is GroupRow {
  return "runs" in row;
}

/** Returns the key of the group of a run; empty if it belongs to none. */
export function groupKey(run: RunSummary, grouping: Grouping): string {
  if (grouping === "environment") return run.env;
  if (grouping === "variant") return run.preset;
  return grouping === "seeds" ? (run.group ?? "") : "";
}

/**
 * Returns the groups, each with its runs in order. A group comes where the first of its runs would be, except
 * for the runs that belong to no group, which come last.
 */
export function groupRuns(runs: readonly RunSummary[], grouping: Grouping, order: Order): RunGroup[] {
  const groups = new Map<string, RunGroup>();
  for (const run of sortedBy(runs, order.value, order.descending)) {
    const key = groupKey(run, grouping);
    const group = groups.get(key) ?? { key, label: key && groupLabel(run, grouping, key), runs: [] };
    group.runs.push(run);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  return [...all.filter((group) => group.key), ...all.filter((group) => !group.key)];
}

/** Returns the rows of the table. `closed`: keys of the groups whose runs are not shown. */
export function tableRows(
  runs: readonly RunSummary[],
  grouping: Grouping,
  order: Order,
  closed: ReadonlySet<string>,
): TableRow[] {
  if (grouping === "none") return sortedBy(runs, order.value, order.descending);
  return groupRuns(runs, grouping, order).flatMap((group): TableRow[] => {
    const open = !closed.has(group.key);
    return [{ ...group, open }, ...(open ? group.runs : [])];
  });
}

/** Returns the runs that enter the mean of their group: those that finished with a score and, if not all of these
 * scores are comparable, only the most comparable ones. */
export function scoredRuns(runs: readonly RunSummary[]): RunSummary[] {
  const finished = runs.filter((run) => run.status === "finished" && run.score !== null);
  const comparability = Math.max(...finished.map((run) => run.score?.rank[0] ?? 0));
  return finished.filter((run) => run.score?.rank[0] === comparability);
}

/** Returns the mean score of the finished runs; null if none has a score. */
export function meanScore(runs: readonly RunSummary[]): number | null {
  const scores = scoredRuns(runs).map((run) => run.score?.mean ?? Number.NaN);
  return scores.length ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null;
}

export interface Facet {
  value: string;
  count: number;
}

/** Returns how many runs have each value, the most frequent first. A run may have several values or none. */
export function countValues(runs: Iterable<RunSummary>, values: (run: RunSummary) => readonly string[]): Facet[] {
  const counts = new Map<string, number>();
  for (const run of runs)
    for (const value of values(run)) if (value) counts.set(value, (counts.get(value) ?? 0) + 1);
  const byName = sortedBy([...counts], ([value]) => value, false);
  return sortedBy(byName, ([, count]) => count, true).map(([value, count]) => ({ value, count }));
}

function groupLabel(run: RunSummary, grouping: Grouping, key: string): string {
  return grouping === "seeds" ? run.group_name || key : key;
}
