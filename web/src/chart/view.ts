/** Ranges, zoom and positions of charts. Pure functions. */
import type { Values } from "../api/types";

export type Range = readonly [low: number, high: number];

/** Returns the range that several x arrays cover; null without points. They are in ascending order. */
export function covered(arrays: Iterable<ArrayLike<number>>): Range | null {
  let low = Infinity;
  let high = -Infinity;
  for (const x of arrays) {
    if (!x.length) continue;
    low = Math.min(low, x[0] ?? Infinity);
    high = Math.max(high, x[x.length - 1] ?? -Infinity);
  }
  return low <= high ? [low, high] : null;
}

/** Returns the index of the first x that is not below a position; the length if all are. */
export function firstFrom(x: ArrayLike<number>, position: number): number {
  let low = 0;
  let high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] ?? 0) < position) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the index of the x that is nearest to a position; -1 if there are none. */
export function nearest(x: ArrayLike<number>, position: number): number {
  const after = firstFrom(x, position);
  if (after === 0) return x.length ? 0 : -1;
  if (after === x.length) return x.length - 1;
  return position - (x[after - 1] ?? 0) <= (x[after] ?? 0) - position ? after - 1 : after;
}

/** Returns the first and one after the last index that a view needs: one point more on each side, so that
 * lines reach its edges. */
export function indicesIn(x: ArrayLike<number>, view: Range): [first: number, end: number] {
  return [Math.max(0, firstFrom(x, view[0]) - 1), Math.min(x.length, firstFrom(x, view[1]) + 1)];
}

/** Returns the extremes of values at the indices; NaN, null, infinite (and for log axes, not positive) values
 * do not count. */
export function extremes(values: Values, first: number, end: number, isLog: boolean, found: [number, number]): void {
  for (let i = first; i < end; i++) {
    const value = values[i];
    if (value === null || value === undefined || !Number.isFinite(value) || (isLog && value <= 0)) continue;
    if (value < found[0]) found[0] = value;
    if (value > found[1]) found[1] = value;
  }
}

/** Returns the range of the y axis for extremes of data: some room on both sides, but not beyond zero. */
export function padded(low: number, high: number, isLog: boolean): Range {
  if (!(low <= high)) return isLog ? [0.1, 1] : [0, 1];
  if (isLog) return low === high ? [low / 2, high * 2] : [low / 1.2, high * 1.2];
  if (low === high) {
    if (low === 0) return [0, 1];
    const half = Math.abs(low) * 0.1;
    return [low - half, high + half];
  }
  const room = (high - low) * 0.06;
  const bottom = low >= 0 && low - room < 0 ? 0 : low - room;
  const top = high <= 0 && high + room > 0 ? 0 : high + room;
  return [bottom, top];
}

/** Returns a view enlarged by a factor (below 1: closer) around a position, within the limits; null if it
 * shows everything. */
export function zoomed(view: Range, factor: number, center: number, limits: Range): Range | null {
  const low = center - (center - view[0]) * factor;
  const high = center + (view[1] - center) * factor;
  return within([low, high], limits);
}

/** Returns a view moved by a share of its width, within the limits. */
export function panned(view: Range, share: number, limits: Range): Range | null {
  const step = (view[1] - view[0]) * share;
  const allowed = Math.max(limits[0] - view[0], Math.min(limits[1] - view[1], step));
  return within([view[0] + allowed, view[1] + allowed], limits);
}

/** Returns the part of a view inside the limits; null if it is all of them, or nothing. */
export function within(view: Range, limits: Range): Range | null {
  const low = Math.max(view[0], limits[0]);
  const high = Math.min(view[1], limits[1]);
  if (low <= limits[0] && high >= limits[1]) return null;
  // Floats have an end: a closer view would have no ticks.
  const least = Math.max(Math.abs(low), Math.abs(high)) * 1e-9;
  return high - low > least ? [low, high] : null;
}

/** Moves labels apart that would overlap, keeping their order, inside 0 to `height`. Returns their centers. */
export function spread(centers: readonly number[], size: number, height: number): number[] {
  const order = centers.map((_, i) => i).sort((a, b) => (centers[a] ?? 0) - (centers[b] ?? 0));
  const placed = [...centers];
  let from = size / 2;
  for (const i of order) {
    placed[i] = Math.max(from, placed[i] ?? 0);
    from = (placed[i] ?? 0) + size;
  }
  let to = height - size / 2;
  for (const i of order.reverse()) {
    placed[i] = Math.min(to, placed[i] ?? 0);
    to = (placed[i] ?? 0) - size;
  }
  return placed;
}

/** Returns up to about six ticks of a logarithmic axis: powers of ten, with 2 and 5 times these or all digits if the
 * range has few powers, and the ends themselves if it has none. */
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0 && high >= low && Number.isFinite(high))) return [];
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const ticks = (digits: readonly number[], step: number) => {
    const found: number[] = [];
    for (let power = first; power <= last; power += step) {
      for (const digit of digits) found.push(Number(`${digit}e${power}`));
    }
    return found.filter((tick) => tick >= low && tick <= high);
  };
  const powers = ticks([1], 1);
  if (powers.length > 6) return ticks([1], Math.ceil(powers.length / 6));
  if (powers.length > 2) return powers;
  const some = ticks([1, 2, 5], 1);
  if (some.length > 2) return some;
  const all = ticks([1, 2, 3, 4, 5, 6, 7, 8, 9], 1);
  return all.length > 1 ? all : [...new Set([low, high].map((end) => Number(end.toPrecision(3))))];
}
