/** The lines of one chart of the comparison, from the curves of the runs and the means over seeds. */
import type { MetricCurves, MetricSeries, SeedCurves } from "../../api/types";
import type { LineSeries } from "../../chart/LineChart";
import type { Side } from "./sides";

/** Number of values per array that one answer may have: three arrays of these are below 1 MB. */
const MAX_VALUES = 38_000;
const MIN_POINTS = 60;
const MAX_POINTS = 800;

/** Returns how many points per run to ask for: about one per pixel, fewer if there are many runs. */
export function pointsPerRun(runs: number, width: number): number {
  const wanted = Math.min(Math.round(width), MAX_POINTS, Math.floor(MAX_VALUES / Math.max(runs, 1)));
  return Math.max(wanted, MIN_POINTS);
}

/** Returns a part of the x axis with some room on both sides, so that lines reach the edges and a small move needs
 * no new data. */
export function withMargin({ low, high }: XRange): XRange {
  const room = (high - low) * 0.25;
  return { low: low - room, high: high + room };
}

/** Returns whether data of `part` has everything that `wanted` shows. */
export function covers(part: XRange, wanted: XRange): boolean {
  return part.low <= wanted.low && part.high >= wanted.high;
}

/** Returns whether every recorded point is in the curves, so that a closer look would show no more. */
export function isComplete(curves: MetricCurves): boolean {
  return curves.series.every((series) => series.total <= series.x.length);
}

export interface XRange {
  low: number;
  high: number;
}

export interface Drawing {
  key: string;
  sides: readonly Side[];
  hidden: ReadonlySet<string>;
  color: (ref: string) => string;
  dash: (ref: string) => number[] | undefined;
  /** The name of a run. */
  nameOf: (run: string) => string;
}

/** Returns the series of a chart, those in front last. A group is its mean with a band, with its seeds faint
 * behind it; without a mean over seeds, such as while it is loading, only the seeds are drawn. */
export function chartSeries(
  drawing: Drawing,
  curves: MetricCurves | undefined,
  seeds: SeedCurves | undefined,
): LineSeries[] {
  const byRun = new Map<string, MetricSeries>();
  for (const series of curves?.series ?? []) if (series.key === drawing.key) byRun.set(series.run, series);
  const behind: LineSeries[] = [];
  const front: LineSeries[] = [];
  for (const side of drawing.sides) {
    if (drawing.hidden.has(side.ref)) continue;
    const color = drawing.color(side.ref);
    const isGroup = side.runs.length > 1;
    for (const id of side.runs) {
      const series = byRun.get(id);
      if (!series) continue;
      const line: LineSeries = {
        key: isGroup ? `${side.ref}/${id}` : side.ref,
        label: drawing.nameOf(id),
        color,
        dash: drawing.dash(side.ref),
        x: series.x,
        y: series.mean,
      };
      if (isGroup) behind.push({ ...line, faint: true });
      else front.push(isReduced(series) ? { ...line, low: series.low, high: series.high } : line);
    }
    const mean = seeds?.groups.find((group) => group.name === side.ref)?.series.find((one) => one.key === drawing.key);
    if (!isGroup || !mean || mean.x.length === 0) continue;
    const line: LineSeries = { key: side.ref, label: side.label, color, dash: drawing.dash(side.ref), x: mean.x, y: mean.mean };
    front.push({ ...line, low: mean.low, high: mean.high });
  }
  return [...behind, ...front];
}

/** Returns the side that a line of the chart belongs to; null if there is none. */
export function sideOfLine(key: string | null, sides: readonly Side[]): Side | null {
  if (key === null) return null;
  return sides.find((side) => side.ref === key || side.runs.some((id) => key === `${side.ref}/${id}`)) ?? null;
}

function isReduced(series: MetricSeries): boolean {
  for (let i = 0; i < series.mean.length; i++) if (series.low[i] !== series.high[i] && series.low[i] === series.low[i]) return true;
  return false;
}
