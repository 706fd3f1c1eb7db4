/** Which changes of runs concern a filter. */

import type { RunSummary } from "../../api/types";

/**
 * Returns whether a filter may have another result after a change from `before` to `after`: whether runs came
 * or went, or a field that the grammar of `gymnast runs` can look at has changed. New metrics matter only to
 * comparisons, such as score>200.
 */
export function filterMayChange(filter: string, before: readonly RunSummary[], after: readonly RunSummary[]): boolean {
  if (before === after) return false;
  if (before.length !== after.length || /[<>]/.test(filter)) return true;
  const old = new Map(before.map((run) => [run.id, run]));
  return after.some((run) => {
    const was = old.get(run.id);
    return was !== run && (!was || filteredFields(was) !== filteredFields(run));
  });
}

function filteredFields(run: RunSummary): string {
  const { id, name, preset, env, variant, algo, status, seed, group, tags, solved } = run;
  return JSON.stringify([id, name, preset, env, variant, algo, status, seed, group, tags, solved]);
}
