/** Contributions of observation components to a decision. Pure functions. */

export interface Contribution {
  column: string;
  label: string;
  value: number;
  /** Size relative to the largest one, 0 to 1. */
  share: number;
}

/** Returns the contributions, the largest first, at most `limit` of them. */
export function ranked(
  components: Readonly<Record<string, number>>,
  labels: ReadonlyMap<string, string>,
  limit: number,
): Contribution[] {
  const all = Object.entries(components).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  const largest = Math.abs(all[0]?.[1] ?? 0);
  return all.slice(0, limit).map(([column, value]) => ({
    column,
    label: labels.get(column) ?? column.replace(/^obs\//, ""),
    value,
    share: largest > 0 ? Math.abs(value) / largest : 0,
  }));
}

/** Returns the label of each earlier step whose observation contributed. */
export function stepLabels(past: Readonly<Record<string, number>>): ReadonlyMap<string, string> {
  return new Map(Object.keys(past).map((step) => [step, `observation of step ${step}`]));
}

/** Returns the colors of a saliency map, RGBA bytes: transparent where nothing matters. */
export function heat(values: readonly number[]): Uint8ClampedArray<ArrayBuffer> {
  const largest = Math.max(...values, 0);
  const pixels = new Uint8ClampedArray(values.length * 4);
  values.forEach((value, i) => {
    const share = largest > 0 ? Math.max(0, value) / largest : 0;
    pixels.set([230, 120, 0, Math.round(220 * share)], i * 4);
  });
  return pixels;
}
