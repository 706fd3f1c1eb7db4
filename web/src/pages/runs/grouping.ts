/** The lines of the runs table: runs, in groups if wanted. */

import type { RunSummary } from "../../api/types";
import { compareValues, sorted, type SortValue } from "./order";
import type { Grouping } from "./view";

export interface RunGroup {
  key: string;
  /** Its title; empty for runs that belong to no group. */
  label: string;
  /** In the order of the table. */
  runs: RunSummary[];
}

export type Line = { kind: "group"; group: RunGroup; open: boolean } | { kind: "run"; run: RunSummary };

export interface Order {
  value: (run: RunSummary) => SortValue;
  descending: boolean;
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
  for (const run of sorted(runs, order.value, order.descending)) {
    const key = groupKey(run, grouping);
    const group = groups.get(key) ?? { key, label: key && groupLabel(run, grouping, key), runs: [] };
    group.runs.push(run);
    groups.set(key, group);
  }
  const all = [...groups.values()];
  return [...all.filter((group) => group.key), ...all.filter((group) => !group.key)];
}

/** Returns the lines of the table. `closed`: keys of the groups whose runs are not shown. */
export function tableLines(
  runs: readonly RunSummary[],
  grouping: Grouping,
  order: Order,
  closed: ReadonlySet<string>,
): Line[] {
  if (grouping === "none")
    return sorted(runs, order.value, order.descending).map((run) => ({ kind: "run", run }));
  return groupRuns(runs, grouping, order).flatMap((group): Line[] => {
    const open = !closed.has(group.key);
    const shown = open ? group.runs.map((run): Line => ({ kind: "run", run })) : [];
    return [{ kind: "group", group, open }, ...shown];
  });
}

/** Returns the finished runs that have a score: those that enter the mean of their group. */
export function scoredRuns(runs: readonly RunSummary[]): RunSummary[] {
  return runs.filter((run) => run.status === "finished" && run.score !== null);
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
  const facets = [...counts].map(([value, count]) => ({ value, count }));
  return facets.sort((a, b) => b.count - a.count || compareValues(a.value, b.value, false));
}

function groupLabel(run: RunSummary, grouping: Grouping, key: string): string {
  return grouping === "seeds" ? run.group_name || key : key;
}
