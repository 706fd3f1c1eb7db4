/** Smoothing of series. Pure functions. */
import type { Values } from "../api/types";

/** The largest weight of the past that can be chosen. */
export const MAX_SMOOTHING = 0.99;

/** Returns the debiased exponential moving average: without the debiasing, the first values would pull
 * everything toward zero. Gaps stay gaps and do not count. `weight`: of the past, 0 to below 1. */
export function smoothed(values: Values, weight: number): Float64Array {
  const result = new Float64Array(values.length);
  let average = 0;
  let remaining = 1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === null || value === undefined || !Number.isFinite(value)) {
      result[i] = NaN;
      continue;
    }
    average = weight * average + (1 - weight) * value;
    remaining *= weight;
    result[i] = average / (1 - remaining);
  }
  return result;
}
