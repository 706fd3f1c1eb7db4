/** What is compared if runs are selected. */

import type { RunSummary } from "../../api/types";

/**
 * Returns the references to compare. A group of seeds whose runs are all selected is one side, unless it is
 * the only one: then its seeds are compared with each other. Runs that cannot be read are left out. `runs`: all
 * runs, which decide what is complete.
 */
export function compareRefs(selected: ReadonlySet<string>, runs: readonly RunSummary[]): string[] {
  const complete = completeGroups(selected, runs);
  const sides = new Set<string>();
  const ids: string[] = [];
  for (const run of runs) {
    if (!selected.has(run.id) || run.problem) continue;
    ids.push(run.id);
    sides.add(run.group !== null && complete.has(run.group) ? run.group : run.id);
  }
  return sides.size > 1 ? [...sides] : ids;
}

function completeGroups(selected: ReadonlySet<string>, runs: readonly RunSummary[]): Set<string> {
  const sizes = new Map<string, { all: number; selected: number }>();
  for (const { id, group } of runs) {
    if (group === null) continue;
    const size = sizes.get(group) ?? { all: 0, selected: 0 };
    sizes.set(group, { all: size.all + 1, selected: size.selected + Number(selected.has(id)) });
  }
  return new Set([...sizes].filter(([, size]) => size.all > 1 && size.all === size.selected).map(([group]) => group));
}
