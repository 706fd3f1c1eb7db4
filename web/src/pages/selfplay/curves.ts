/** The lines of the self-play charts. */
import type { DurationHistogram, RatingCurve, RoleCurve } from "../../api/types";
import { inkAt } from "../../chart/colors";
import type { LineSeries } from "../../chart/LineChart";
import { formatCount } from "../../ui/numbers";
import { durationQuantile } from "./players";

/** The curve whose interval is drawn: it has the most matches. Bands of all would hide each other. */
const WITH_BAND = "all scripted opponents";

/** The outcome of matches that the environment did not report. */
const UNKNOWN = "unknown";

/** Returns the color of a role, the same in all charts of the page; matches of all roles are gray. */
export function roleColor(role: string, roles: readonly string[]): string {
  const index = roles.indexOf(role);
  return index < 0 ? "var(--muted)" : inkAt(index).color;
}

export function ratingLines(ratings: readonly RatingCurve[], roles: readonly string[]): LineSeries[] {
  return ratings.map((curve) => ({
    key: curve.role,
    label: curve.role,
    color: roleColor(curve.role, roles),
    x: curve.x,
    y: curve.rating,
    low: curve.low,
    high: curve.high,
  }));
}

export interface RoleChart {
  /** The role that the matches are about; empty for the matches of training, which all roles share. */
  role: string;
  series: LineSeries[];
}

/** Returns the win rates, one chart per role with a line per opponent. An opponent has the same line in all. */
export function winCharts(curves: readonly RoleCurve[]): RoleChart[] {
  const labels = [...new Set(curves.map((curve) => curve.label))];
  return byRole(curves, (curve) => {
    const line = { key: curve.label, label: opponentText(curve.label), ...inkAt(labels.indexOf(curve.label)), x: curve.x, y: curve.y };
    const hasBand = curve.label === WITH_BAND && curve.low.length === curve.x.length;
    return hasBand ? { ...line, low: curve.low, high: curve.high } : line;
  });
}

/** Returns the stacked charts of outcomes, one per role. An outcome has the same color in all of them. */
export function outcomeCharts(curves: readonly RoleCurve[]): RoleChart[] {
  const labels = [...new Set(curves.map((curve) => curve.label))].filter((label) => label !== UNKNOWN);
  const charts = byRole(curves, (curve) => ({
    key: curve.label,
    label: curve.label,
    // The first colors are those of the roles.
    color: curve.label === UNKNOWN ? "var(--muted)" : inkAt(labels.indexOf(curve.label) + 2).color,
    x: curve.x,
    y: curve.y,
  }));
  return charts.map((chart) => ({ ...chart, series: aligned(chart.series) }));
}

/** Returns the histograms of match lengths, labeled with their medians; the matches of training are named so. */
export function durationSeries(durations: readonly DurationHistogram[], roles: readonly string[]) {
  return durations.map((histogram) => {
    const { role, edges, counts } = histogram;
    const median = durationQuantile(histogram, 0.5);
    const what = role ? `evaluation of ${role}` : "training";
    const label = median === null ? what : `${what}, median ${formatCount(median)}`;
    return { key: role || "training", label, color: roleColor(role, roles), edges, counts };
  });
}

/** Returns the series at common positions: curves with many points are reduced one by one, and stacking needs
 * the values of all at each position. Values between two points are interpolated. */
export function aligned(series: readonly LineSeries[]): LineSeries[] {
  const positions = new Set<number>();
  for (const { x } of series) for (let i = 0; i < x.length; i++) positions.add(x[i]!);
  if (series.every(({ x }) => x.length === positions.size)) return [...series];
  const common = [...positions].sort((a, b) => a - b);
  return series.map((one) => ({ ...one, x: common, y: interpolated(one, common) }));
}

function interpolated({ x, y }: LineSeries, positions: readonly number[]): number[] {
  let after = 0;
  return positions.map((position) => {
    while (after < x.length && x[after]! < position) after++;
    if (after === x.length || (after === 0 && x[0]! > position)) return NaN;
    if (x[after] === position) return y[after] ?? NaN;
    const [left, right] = [x[after - 1]!, x[after]!];
    const share = (position - left) / (right - left);
    return (y[after - 1] ?? NaN) * (1 - share) + (y[after] ?? NaN) * share;
  });
}

function byRole(curves: readonly RoleCurve[], line: (curve: RoleCurve) => LineSeries): RoleChart[] {
  const charts = new Map<string, LineSeries[]>();
  for (const curve of curves) charts.set(curve.role, [...(charts.get(curve.role) ?? []), line(curve)]);
  return [...charts].map(([role, series]) => ({ role, series }));
}

function opponentText(label: string): string {
  return label.replace(/^scripted:(.*)$/, "$1 (scripted)");
}
