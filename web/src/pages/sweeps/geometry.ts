/** The geometry of the plots of a study. Pure functions. */
import type { PlottedTrial } from "../../api/types";

export type Group = "best" | "baseline" | "complete" | "waiting" | "failed" | "training";

export interface Box {
  left: number;
  top: number;
  width: number;
  height: number;
}

export interface Scale {
  low: number;
  high: number;
}

/** Names of the groups in the legend. */
export const GROUP_NAMES: Record<Group, string> = {
  best: "best",
  baseline: "baseline",
  complete: "complete",
  waiting: "stopped at a rung",
  failed: "failed",
  training: "training",
};

/** Returns how a trial is drawn. `best`: number of the best trial. */
export function groupOf(trial: Pick<PlottedTrial, "number" | "is_baseline" | "state">, best: number | null): Group {
  if (trial.is_baseline) return "baseline";
  return trial.number === best ? "best" : trial.state;
}

/** Returns the range of the values of trials with a margin; null if none has a value. */
export function valueScale(values: readonly (number | null)[]): Scale | null {
  const known = values.filter((value): value is number => value !== null && Number.isFinite(value));
  if (known.length === 0) return null;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const margin = (high - low || Math.abs(high) || 1) * 0.06;
  return { low: low - margin, high: high + margin };
}

/** Returns the y of a value in a box. */
export function yOf(value: number, scale: Scale, box: Box): number {
  return box.top + box.height * (1 - (value - scale.low) / (scale.high - scale.low));
}

/** Returns a step line through the best values so far, as an SVG path. `toX`: number of a trial -> x. */
export function bestPath(trials: readonly PlottedTrial[], toX: (number: number) => number, scale: Scale, box: Box): string {
  let path = "";
  for (const { number, best } of trials) {
    if (best === null) continue;
    const [x, y] = [toX(number).toFixed(1), yOf(best, scale, box).toFixed(1)];
    path += path === "" ? `M${x} ${y}` : `H${x}V${y}`;
  }
  return path;
}

/** Returns the line of a trial through its place on each axis, as an SVG path; an axis that it does not use is a gap. */
export function parallelPath(positions: readonly (number | null)[], axes: readonly number[], box: Box): string {
  let path = "";
  let isOpen = false;
  positions.forEach((position, i) => {
    if (position === null) {
      isOpen = false;
      return;
    }
    const x = (axes[i] ?? 0).toFixed(1);
    const y = (box.top + box.height * (1 - position)).toFixed(1);
    path += `${isOpen ? "L" : "M"}${x} ${y}`;
    isOpen = true;
  });
  return path;
}

/** Returns where the axes of `count` parameters are. */
export function axisPlaces(count: number, box: Box): number[] {
  const gap = count > 1 ? box.width / (count - 1) : 0;
  return Array.from({ length: count }, (_, i) => box.left + i * gap);
}

/** Returns how good a value is among complete trials, from 0 (worst) to 1 (best). */
export function quality(value: number | null, complete: readonly number[]): number {
  if (value === null || complete.length === 0) return 0;
  const low = Math.min(...complete);
  const high = Math.max(...complete);
  return high > low ? Math.min(Math.max((value - low) / (high - low), 0), 1) : 1;
}

/** Returns the axis texts that fit: all, or every n-th of many. */
export function shownTicks(texts: readonly string[], positions: readonly number[], most: number): { text: string; at: number }[] {
  const every = Math.ceil(texts.length / Math.max(most, 1));
  return texts.flatMap((text, i) => (i % every === 0 ? [{ text: shortened(text), at: positions[i] ?? 0 }] : []));
}

function shortened(text: string): string {
  return text.length > 14 ? `${text.slice(0, 12)}…` : text;
}
