/** Sentences about whether one side of a comparison is better than the other. */

import type { Improvement } from "../../api/types";

export interface Verdict {
  outcome: "better" | "worse" | "noise" | "unknown";
  sentence: string;
}

/** A side as the sentences name it. */
export interface JudgedSide {
  /** Its name in the record. */
  ref: string;
  name: string;
  /** Number of seeds with a final score. */
  seeds: number;
}

/** Returns the improvement of `ref` over `baseline`, whichever of the two comes first in the record. */
export function improvementOver(
  improvements: readonly Improvement[],
  ref: string,
  baseline: string,
): Improvement | null {
  const direct = improvements.find((entry) => entry.a === ref && entry.b === baseline);
  if (direct) return direct;
  const reverse = improvements.find((entry) => entry.a === baseline && entry.b === ref);
  return reverse ? reversed(reverse) : null;
}

/** Returns in one sentence whether `side` is better than `baseline`. `format` formats numbers. */
export function verdict(
  improvement: Improvement | null,
  side: JudgedSide,
  baseline: JudgedSide,
  format: (value: number) => string,
): Verdict {
  const pair = `${side.name} and ${baseline.name}`;
  const probability = improvement?.probability ?? null;
  if (improvement === null || probability === null) {
    const why = withNames(improvement?.problem ?? "", side, baseline) || "there is no test of the difference";
    return { outcome: "unknown", sentence: `${pair} cannot be compared: ${why}.` };
  }
  const seeds = `${side.seeds} against ${baseline.seeds} seeds`;
  const difference = differenceText(improvement, format);
  if (improvement.exceeds_noise === null) {
    const question = `Whether ${side.name} is better than ${baseline.name} cannot be told from noise`;
    const numbers = difference ? `${seeds}; ${difference}` : seeds;
    return { outcome: "unknown", sentence: `${question}: this needs at least 2 seeds per side (${numbers}).` };
  }
  const evidence = `P(better) ${probability.toFixed(2)}, ${seeds}`;
  const caution = improvement.caution === "" ? "" : ` Caution: ${withNames(improvement.caution, side, baseline)}.`;
  if (!improvement.exceeds_noise) {
    const detail = difference ? `: ${difference}` : "";
    return { outcome: "noise", sentence: `${pair} differ by not more than noise${detail} (${evidence}).${caution}` };
  }
  const outcome = improvement.better === improvement.a ? "better" : "worse";
  const detail = difference ? `: ${difference}, more than noise` : " by more than noise";
  return { outcome, sentence: `${side.name} is ${outcome} than ${baseline.name}${detail} (${evidence}).${caution}` };
}

/** Returns a text of the record with the names of the page in place of references, such as `a+b+c`. */
function withNames(text: string, ...sides: JudgedSide[]): string {
  const named = new Map(sides.map((side) => [side.ref, side.name]));
  return text.split(" ").map((word) => named.get(word) ?? word).join(" ");
}

/** Returns the difference of the IQMs with its interval; empty for sides with several environments. */
function differenceText({ difference }: Improvement, format: (value: number) => string): string {
  if (difference === null) return "";
  const { mean, low, high } = difference;
  const interval = low === null || high === null ? "" : ` [${format(low)}, ${format(high)}]`;
  return `IQM ${mean > 0 ? "+" : ""}${format(mean)}${interval}`;
}

/** Returns the same comparison from the other side. */
function reversed(entry: Improvement): Improvement {
  const { difference } = entry;
  return {
    ...entry,
    a: entry.b,
    b: entry.a,
    probability: complement(entry.probability),
    low: complement(entry.high),
    high: complement(entry.low),
    difference: difference && { mean: -difference.mean, low: negated(difference.high), high: negated(difference.low) },
  };
}

function complement(value: number | null): number | null {
  return value === null ? null : 1 - value;
}

function negated(value: number | null): number | null {
  return value === null ? null : -value;
}
