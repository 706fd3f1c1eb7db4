/** The geometry of a sparkline. Pure functions. */

export interface Spark {
  path: string;
  /** Height of the horizontal line; null without one. */
  lineY: number | null;
  /** The last point. */
  last: [number, number] | null;
}

/** Returns the path of points scaled to a box; missing or infinite values interrupt it. */
export function sparkPath(
  points: readonly (readonly [number, number | null])[],
  width: number,
  height: number,
  line: number | null,
): Spark {
  const known = points.filter((point): point is readonly [number, number] => Number.isFinite(point[1]) && point[1] !== null);
  const values = known.map(([, y]) => y);
  if (line !== null) values.push(line);
  const xs = points.map(([x]) => x);
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const margin = 2;
  const px = (x: number) => round(margin + ((x - left) / (right - left || 1)) * (width - 2 * margin));
  const py = (y: number) => round(height - margin - (high > low ? (y - low) / (high - low) : 0.5) * (height - 2 * margin));
  let path = "";
  let isOpen = false;
  for (const [x, y] of points) {
    if (y === null || !Number.isFinite(y)) {
      isOpen = false;
      continue;
    }
    path += `${isOpen ? "L" : "M"}${px(x)} ${py(y)}`;
    isOpen = true;
  }
  const end = known.at(-1);
  return { path, lineY: line === null ? null : py(line), last: end ? [px(end[0]), py(end[1])] : null };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
