/** Whether a value is better or worse than that of the baseline, and whether the difference exceeds noise. */

import type { MeasureDifference } from "../../api/types";

export type Direction = "higher" | "lower" | "";

/** A number with its 95 % interval, which is null if it is not known. */
export interface Estimate {
  value: number | null;
  low: number | null;
  high: number | null;
}

export interface Judgment {
  relation: "better" | "worse" | "same" | "unknown";
  /** Whether the difference exceeds noise; null if that cannot be judged. */
  exceedsNoise: boolean | null;
}

export const UNKNOWN: Judgment = { relation: "unknown", exceedsNoise: null };

/** Returns how `estimate` compares with `baseline`. Two intervals that do not overlap exceed noise; that they
 * overlap does not show the opposite, so a test of the difference, if there is one, is passed as `tested`. */
export function judge(
  estimate: Estimate,
  baseline: Estimate,
  better: Direction,
  tested: boolean | null = null,
): Judgment {
  const { value } = estimate;
  if (value === null || baseline.value === null || better === "") return UNKNOWN;
  if (Number.isNaN(value) || Number.isNaN(baseline.value)) return UNKNOWN;
  if (value === baseline.value) return { relation: "same", exceedsNoise: false };
  const relation = value > baseline.value === (better === "higher") ? "better" : "worse";
  return { relation, exceedsNoise: tested ?? separated(estimate, baseline) };
}

/** Returns how side `a` compares with `b` in a measure that the record has tested. A difference is unknown if some
 * run has no value: the mean over those that reached a goal is no comparison of all. */
export function judgeMeasure(tested: MeasureDifference, a: string): Judgment {
  if (tested.better !== null) return { relation: tested.better === a ? "better" : "worse", exceedsNoise: tested.exceeds_noise };
  return tested.problem === "" ? { relation: "same", exceedsNoise: false } : UNKNOWN;
}

function separated(a: Estimate, b: Estimate): boolean | null {
  if (a.low === null || a.high === null || b.low === null || b.high === null) return null;
  return a.low > b.high || a.high < b.low;
}

/** Returns the sign that stands for a judgment next to its color: filled if it exceeds noise. */
export function judgmentSign(judgment: Judgment): string {
  if (judgment.relation === "better") return judgment.exceedsNoise === true ? "▲" : "△";
  if (judgment.relation === "worse") return judgment.exceedsNoise === true ? "▼" : "▽";
  return judgment.relation === "same" ? "=" : "";
}

/** Returns the CSS class of a judgment; a difference that may be noise has no color. */
export function judgmentClass(judgment: Judgment): string {
  if (judgment.relation !== "better" && judgment.relation !== "worse") return "";
  return judgment.exceedsNoise === true ? judgment.relation : "maybe-noise";
}

/** Returns the judgment in words, for tooltips and screen readers. */
export function judgmentText(judgment: Judgment, baseline: string): string {
  if (judgment.relation === "unknown") return "";
  if (judgment.relation === "same") return `the same as ${baseline}`;
  const noise =
    judgment.exceedsNoise === null
      ? "no interval to tell it from noise"
      : judgment.exceedsNoise
        ? "more than noise"
        : "not more than noise";
  return `${judgment.relation} than ${baseline}, ${noise}`;
}
