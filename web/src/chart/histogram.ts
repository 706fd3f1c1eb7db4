/** The geometry of histograms. Pure functions. */

export interface Bar {
  series: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

interface Counts {
  edges: ArrayLike<number>;
  counts: ArrayLike<number>;
}

/** Returns the bars of histograms in a box. Several series of categories are next to each other; several
 * histograms over numbers cover each other. */
export function bars(series: readonly Counts[], width: number, height: number, isCategories: boolean) {
  const highest = Math.max(0, ...series.flatMap(({ counts }) => Array.from(counts).filter(Number.isFinite)));
  const known = series.filter(({ edges }) => edges.length > 1);
  const low = Math.min(...known.map(({ edges }) => edges[0] ?? 0));
  const high = Math.max(...known.map(({ edges }) => edges[edges.length - 1] ?? 1));
  const place = (value: number) => (known.length ? ((value - low) / (high - low || 1)) * width : 0);
  const result: Bar[] = [];
  series.forEach(({ edges, counts }, k) => {
    for (let i = 0; i < counts.length; i++) {
      const slot = isCategories ? width / counts.length : 0;
      const part = (slot * 0.8) / series.length;
      const left = isCategories ? slot * (i + 0.1) + part * k : place(edges[i] ?? 0);
      const size = isCategories ? part : place(edges[i + 1] ?? 0) - left;
      const tall = highest > 0 ? ((counts[i] ?? 0) / highest) * height : 0;
      result.push({ series: k, left, top: height - tall, width: Math.max(1, size - 1), height: Math.max(0, tall) });
    }
  });
  const ticks = known.length ? ticksBetween(low, high, Math.max(2, Math.min(6, Math.floor(width / 60)))).map((value) => ({ value, at: place(value) })) : [];
  return { bars: result, highest, ticks };
}

/** Returns round numbers from 0 up to a value, about `count` of them. */
export function ticksOf(highest: number, count: number): number[] {
  return ticksBetween(0, highest, count);
}

/** Returns round numbers in a range, about `count` of them. */
export function ticksBetween(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
