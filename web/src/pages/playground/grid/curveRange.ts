/** The y axis of learning curves. Pure functions. */
import { padded, type Range } from "../../../chart/view";
import { quantile } from "../quantile";

/** Share of the values that may lie below the axis. */
const BELOW = 0.1;
/** How many times worse than all others the worst value has to be. */
const TIMES = 3;

/** Returns a range that leaves out the first episodes if these are so bad that all others would look the same;
 * undefined if every value has room. */
export function curveRange(curves: readonly (readonly number[])[]): Range | undefined {
  const sorted = Float64Array.from(curves.flat()).sort();
  if (sorted.length < 20) return undefined;
  const [lowest, highest] = [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0];
  const low = quantile(sorted, BELOW);
  const isHidden = lowest < -TIMES * Math.max(Math.abs(low), Math.abs(highest));
  return isHidden ? padded(low, highest, false) : undefined;
}
