/** Counts values in bins of equal width. */

export interface Histogram {
  edges: number[];
  counts: number[];
}

const MAX_BINS = 24;

/** Returns the histogram of finite values; the number of bins follows the square root of their number. */
export function histogram(values: readonly number[]): Histogram {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return { edges: [0, 1], counts: [0] };
  const low = finite.reduce((a, b) => Math.min(a, b));
  const high = finite.reduce((a, b) => Math.max(a, b));
  if (low === high) return { edges: [low - 0.5, low + 0.5], counts: [finite.length] };
  const bins = Math.min(MAX_BINS, Math.max(4, Math.ceil(Math.sqrt(finite.length) * 1.5)));
  const edges = Array.from({ length: bins + 1 }, (_, i) => low + ((high - low) * i) / bins);
  const counts = new Array<number>(bins).fill(0);
  for (const value of finite) counts[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))]!++;
  return { edges, counts };
}
