/** The evaluation bar: what the critic expects, on a scale from the worst to the best outcome. Pure functions. */

export interface Evaluation {
  /** Place on the scale, by step. */
  place: Float64Array;
  /** What followed, on the same scale; undefined if it is unknown. */
  actual: Float64Array | undefined;
  scale: Scale;
  /** The critic's value, for the text, and its unit. */
  value: Float64Array;
  unit: string;
  /** Explains the scale. */
  doc: string;
}

export interface Scale {
  low: number;
  high: number;
}

/** Returns a scale that covers all series and zero; null without numbers. */
export function outcomeScale(...series: (ArrayLike<number> | undefined)[]): Scale | null {
  let low = Infinity;
  let high = -Infinity;
  for (const values of series) {
    for (let i = 0; i < (values?.length ?? 0); i++) {
      const value = values?.[i] as number;
      if (!Number.isFinite(value)) continue;
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
  }
  if (low > high) return null;
  [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  return low === high ? { low: -1, high: 1 } : { low, high };
}

/** Returns the share of the scale below a value, 0 to 1. */
export function shareBelow({ low, high }: Scale, value: number): number {
  return Math.max(0, Math.min(1, (value - low) / (high - low)));
}

/** Returns what the bar shows: the expected outcome if the server knows the scale of outcomes, else the value on the
 * scale of the episode; null without a critic. */
export function evaluation(numbers: (column: string) => Float64Array | undefined): Evaluation | null {
  const raw = numbers("value_raw");
  const value = raw ?? numbers("value_learned");
  if (!value) return null;
  const unit = raw ? "reward" : "learned reward";
  const outcome = numbers("expected_outcome");
  if (outcome && outcomeScale(outcome)) {
    const doc = "The bar is the return of the whole episode that the critic expects, from the worst (0) to the best outcome (1).";
    return { place: outcome, actual: undefined, scale: { low: 0, high: 1 }, value, unit, doc };
  }
  const [place, actual] = [numbers("value_learned") ?? value, numbers("return_learned")];
  const scale = outcomeScale(place, actual);
  if (!scale) return null;
  const doc = "The bar is this value, from the lowest to the highest of the episode. The tick is the return that followed.";
  return { place, actual, scale, value, unit, doc };
}
