/** Sentences about whether one side of a comparison is better than the other. */

import type { Improvement } from "../../api/types";

export interface Verdict {
  outcome: "better" | "worse" | "noise" | "unknown";
  sentence: string;
}

/** A side as the sentences name it. */
export interface JudgedSide {
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
  const seeds = `${side.seeds} against ${baseline.seeds} ${side.seeds === 1 && baseline.seeds === 1 ? "seed" : "seeds"}`;
  if (improvement === null) {
    const missing = [side, baseline].filter((one) => one.seeds === 0).map((one) => one.name);
    const why = missing.length > 0 ? `${missing.join(" and ")} ${missing.length > 1 ? "have" : "has"} no final score` : "there is no test of the difference";
    return { outcome: "unknown", sentence: `${pair} cannot be compared: ${why}.` };
  }
  const { mean, low, high } = improvement.difference;
  const interval = low === null || high === null ? "" : ` [${format(low)}, ${format(high)}]`;
  const difference = `IQM ${signed(mean, format)}${interval}`;
  if (improvement.exceeds_noise === null) {
    const sentence = `Whether ${side.name} is better than ${baseline.name} cannot be told from noise: needs at least 2 seeds per side (${seeds}; ${difference}).`;
    return { outcome: "unknown", sentence };
  }
  const evidence = `P(better) ${improvement.probability.toFixed(2)}, ${seeds}`;
  if (!improvement.exceeds_noise)
    return { outcome: "noise", sentence: `${pair} differ by not more than noise: ${difference} (${evidence}).` };
  const outcome = mean > 0 ? "better" : "worse";
  return {
    outcome,
    sentence: `${side.name} is ${outcome} than ${baseline.name}: ${difference}, more than noise (${evidence}).`,
  };
}

function reversed(entry: Improvement): Improvement {
  const { mean, low, high } = entry.difference;
  return {
    a: entry.b,
    b: entry.a,
    probability: 1 - entry.probability,
    low: 1 - entry.high,
    high: 1 - entry.low,
    difference: { mean: -mean, low: high === null ? null : -high, high: low === null ? null : -low },
    exceeds_noise: entry.exceeds_noise,
  };
}

function signed(value: number, format: (value: number) => string): string {
  return value > 0 ? `+${format(value)}` : format(value);
}
