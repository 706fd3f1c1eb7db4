/** The lines of the self-play charts: a color per role, a dash per opponent. */
import type { RatingCurve, RoleCurve } from "../../api/types";
import { inkAt } from "../../chart/colors";
import type { LineSeries } from "../../chart/LineChart";

const DASHES: (number[] | undefined)[] = [undefined, [6, 3], [2, 3], [8, 3, 2, 3], [1, 2]];

/** Returns the color of a role, the same in all charts of the page. */
export function roleColor(role: string, roles: readonly string[]): string {
  return inkAt(Math.max(roles.indexOf(role), 0)).color;
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

/** Returns the win rates as lines; those of one role have one color and differ in their dash. */
export function winLines(curves: readonly RoleCurve[], roles: readonly string[]): LineSeries[] {
  const labels = [...new Set(curves.map((curve) => curve.label))];
  return curves.map((curve) => ({
    key: `${curve.role} ${curve.label}`,
    label: labels.length > 1 && curve.label ? `${curve.role} ${curve.label}` : curve.role,
    color: roleColor(curve.role, roles),
    dash: DASHES[labels.indexOf(curve.label) % DASHES.length],
    x: curve.x,
    y: curve.y,
  }));
}

export interface OutcomeChart {
  /** The role whose evaluation matches these are; empty for the matches of training. */
  role: string;
  series: LineSeries[];
}

/** Returns the stacked charts of outcomes, one per role. An outcome has the same color in all of them. */
export function outcomeCharts(curves: readonly RoleCurve[]): OutcomeChart[] {
  const labels = [...new Set(curves.map((curve) => curve.label))];
  const byRole = new Map<string, LineSeries[]>();
  for (const curve of curves) {
    const line = { key: curve.label, label: curve.label, color: inkAt(labels.indexOf(curve.label) + 2).color, x: curve.x, y: curve.y };
    byRole.set(curve.role, [...(byRole.get(curve.role) ?? []), line]);
  }
  return [...byRole].map(([role, series]) => ({ role, series }));
}
