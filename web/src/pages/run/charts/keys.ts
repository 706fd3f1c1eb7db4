/** Keys of metric rows, such as `eval/seeker:episode/return`: scopes, then the name of the metric. */
import type { MetricInfo } from "../../../api/types";

/** Env steps of the policy that an evaluation scored; its result is recorded some rows later. */
export const SCORED_STEPS = "eval:clock/env_steps";

export interface SplitKey {
  scopes: string[];
  name: string;
}

export function splitKey(key: string): SplitKey {
  const end = key.lastIndexOf(":");
  return end < 0 ? { scopes: [], name: key } : { scopes: key.slice(0, end).split("/"), name: key.slice(end + 1) };
}

export function isEvaluation(key: string): boolean {
  return splitKey(key).scopes[0] === "eval";
}

/** Returns the section of the metric catalogue; evaluations have their own. */
export function sectionOf(key: string): string {
  const { scopes, name } = splitKey(key);
  return scopes[0] === "eval" ? "eval" : name.split("/", 1)[0]!;
}

/** Finds the description of a key, ignoring its scopes; task-dependent names are listed in a generic form, such as
 * `rollout/obs_mean.K` and `match/OUTCOME_share`. */
export function metricFor(key: string, catalog: ReadonlyMap<string, MetricInfo>): MetricInfo | undefined {
  const { name } = splitKey(key);
  return (
    catalog.get(name) ??
    catalog.get(name.replace(/\.\d+$/, ".K")) ??
    catalog.get(name.replace(/\/[^/]+_share$/, "/OUTCOME_share"))
  );
}
