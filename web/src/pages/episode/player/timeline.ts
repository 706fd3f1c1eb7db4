/** Positions on the timeline, and marks that are too close to each other. Pure functions. */
import type { KeyMoment } from "../types";
import { moreImportant } from "./moments";

/** Returns the step at a position in pixels on a timeline of `width` pixels. */
export function stepAt(x: number, width: number, length: number): number {
  if (width <= 0) return 0;
  return Math.max(0, Math.min(length, Math.round((x / width) * length)));
}

/** Returns the share of the timeline's width at which a step is. */
export function shareOf(step: number, length: number): number {
  return length > 0 ? Math.max(0, Math.min(1, step / length)) : 0;
}

export interface MomentCluster {
  /** Share of the width. */
  share: number;
  /** In order of time. */
  moments: KeyMoment[];
  /** The kind that is drawn: the most important one. */
  kind: string;
}

/** Returns moments in clusters at least `gap` pixels apart, from left to right. */
export function clusteredMoments(moments: readonly KeyMoment[], length: number, width: number, gap = 14): MomentCluster[] {
  const clusters: MomentCluster[] = [];
  for (const moment of [...moments].sort((a, b) => a.step - b.step)) {
    const share = shareOf(moment.step, length);
    const last = clusters.at(-1);
    if (last && (share - last.share) * width < gap) {
      last.moments.push(moment);
      last.kind = moreImportant(last.kind, moment.kind);
    } else clusters.push({ share, moments: [moment], kind: moment.kind });
  }
  return clusters;
}

/** Returns the lowest and highest value of each of `count` equal parts of a series; NaN for parts without values. */
export function envelope(values: ArrayLike<number>, count: number): { low: Float64Array; high: Float64Array } {
  const low = new Float64Array(count).fill(NaN);
  const high = new Float64Array(count).fill(NaN);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    const first = Math.min(count - 1, Math.floor((i * count) / values.length));
    const end = Math.max(first + 1, Math.floor(((i + 1) * count) / values.length));
    for (let part = first; part < Math.min(count, end); part++) {
      if (!(value >= (low[part] as number))) low[part] = value;
      if (!(value <= (high[part] as number))) high[part] = value;
    }
  }
  return { low, high };
}
