/** Charts in a part of the x axis, with all the detail that the server has there. */
import type { ChartData, ChartSeries, MetricCurves, Values } from "../../../api/types";
import type { ClockAxis } from "./axis";
import { isEvaluation, SCORED_STEPS } from "./keys";

/** Returns the metrics whose curves a zoomed view of these charts needs. Evaluations are few: all of them are there. */
export function zoomKeys(charts: readonly ChartData[]): string[] {
  const keys = charts.flatMap((chart) => chart.series.map((line) => line.key));
  return [...new Set(keys.filter((key) => !isEvaluation(key)))];
}

/** Returns the part of the x axis that all charts together cover; undefined without points. */
export function extent(charts: readonly ChartData[]): [number, number] | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const { x } of charts.flatMap((chart) => chart.series)) {
    if (!x.length) continue;
    low = Math.min(low, x[0]!);
    high = Math.max(high, x[x.length - 1]!);
  }
  return low <= high ? [low, high] : undefined;
}

/** Returns a range that is larger by a margin on both sides, so that lines continue to the edges of a zoomed chart. */
export function withMargin([low, high]: readonly [number, number]): [number, number] {
  const margin = 0.05 * (high - low);
  return [low - margin, high + margin];
}

/** Returns the chart with the points of these curves instead of its own; the same object if they lack its metrics. */
export function zoomed(chart: ChartData, curves: MetricCurves): ChartData {
  const found = new Map(curves.series.map((series) => [series.key, series]));
  if (!chart.series.some((line) => found.has(line.key))) return chart;
  if (chart.kind !== "line") {
    const parts = chart.series.map((line) => found.get(line.key));
    return parts.every((part) => part !== undefined) ? withShares(chart, parts) : chart;
  }
  const series = chart.series.map((line): ChartSeries => {
    const curve = found.get(line.key);
    if (!curve) return line;
    const isReduced = curve.total > curve.x.length;
    return {
      ...line,
      x: Array.from(curve.x),
      y: finiteOrNull(curve.mean),
      low: isReduced ? finiteOrNull(curve.low) : null,
      high: isReduced ? finiteOrNull(curve.high) : null,
    };
  });
  return { ...chart, series };
}

function withShares(chart: ChartData, parts: readonly MetricCurves["series"][number][]): ChartData {
  const length = Math.min(...parts.map((part) => part.x.length));
  const x = Array.from(parts[0]!.x).slice(0, length);
  if (parts.some((part) => part.x[0] !== x[0] || part.x[length - 1] !== x[length - 1])) return chart;
  const sums = x.map((_, i) => parts.reduce((sum, part) => sum + Math.abs(part.mean[i] ?? NaN), 0));
  const series = chart.series.map((line, k) => ({
    ...line,
    x,
    y: sums.map((sum, i) => (sum > 0 && Number.isFinite(sum) ? Math.abs(parts[k]!.mean[i] ?? NaN) / sum : null)),
    low: null,
    high: null,
  }));
  return { ...chart, series };
}

/** Returns the curves with evaluations at the policies that they scored, as in the other charts, instead of at the rows
 * that recorded the results. Reduced curves stay as they are: their points are means of several evaluations. */
export function atScoredPolicies(curves: MetricCurves, axis: ClockAxis): MetricCurves {
  const scored = curves.series.find((series) => series.key === SCORED_STEPS);
  if (!scored) return curves;
  const steps = new Map(Array.from(scored.x, (x, i) => [x, scored.mean[i]]));
  const series = curves.series.map((one) => {
    const places = Array.from(one.x, (x) => steps.get(x));
    const isKnown = isEvaluation(one.key) && one.total === one.x.length && places.every((place) => typeof place === "number");
    return isKnown ? { ...one, x: places.map((place) => axis.at(place as number)) } : one;
  });
  return { ...curves, series };
}

/** Returns each series divided by its largest absolute value in the whole run, for charts whose series have different
 * units. `whole`: the chart before it was zoomed. */
export function scaledEach(chart: ChartData, whole: ChartData = chart): ChartData {
  if (!chart.scale_each) return chart;
  const series = chart.series.map((line, i) => {
    const all = whole.series[i]?.y ?? line.y;
    const largest = all.reduce<number>((most, y) => Math.max(most, Math.abs(y ?? 0)), 0) || 1;
    const scaled = (values: (number | null)[] | null) => values && values.map((y) => (y === null ? null : y / largest));
    return { ...line, y: scaled(line.y)!, low: scaled(line.low), high: scaled(line.high) };
  });
  return { ...chart, series };
}

function finiteOrNull(values: Values): (number | null)[] {
  return Array.from(values, (value) => (value !== null && Number.isFinite(value) ? value : null));
}
