/** Adds rows that a running training has just recorded to the data of its charts. */
import type { ChartData, ChartSeries } from "../../../api/types";
import type { ClockAxis } from "./axis";
import { isEvaluation, SCORED_STEPS, splitKey } from "./keys";

export type Row = Readonly<Record<string, number>>;

/** Returns the chart with the points of these rows at the end of its series; the same object if there are none.
 * Points that the chart already has are not added again: x must increase. */
export function appendRows(chart: ChartData, rows: readonly Row[], axis: ClockAxis): ChartData {
  if (chart.kind !== "line") return appendShares(chart, rows);
  let changed = false;
  const series = chart.series.map((line) => {
    const longer = isEvaluation(line.key) ? withEvaluations(line, rows, axis) : withRows(line, rows, chart.x);
    changed ||= longer !== line;
    return longer;
  });
  return changed ? { ...chart, series } : chart;
}

/** Adds the clocks of rows to the axis, so that marks and evaluations find their place. */
export function extendAxis(axis: ClockAxis, rows: readonly Row[], clock: string): void {
  for (const row of rows) {
    const steps = row["clock/env_steps"];
    const x = row[`clock/${clock}`];
    if (steps !== undefined && x !== undefined) axis.extend(steps, x);
  }
}

/** Returns whether rows have metrics that were never seen before: then there may be charts that are not drawn yet. */
export function hasNewKeys(rows: readonly Row[], known: Set<string>): boolean {
  const before = known.size;
  for (const row of rows) for (const key in row) known.add(key);
  return known.size > before;
}

function withRows(line: ChartSeries, rows: readonly Row[], clock: string): ChartSeries {
  return extended(line, rows, (row) => {
    const x = row[`clock/${clock}`];
    const y = row[line.key];
    return x === undefined || y === undefined ? undefined : [x, y, y, y];
  });
}

/** An evaluation belongs to the policy that it scored, whose row is some rows earlier. */
function withEvaluations(line: ChartSeries, rows: readonly Row[], axis: ClockAxis): ChartSeries {
  const { name } = splitKey(line.key);
  const scope = line.key.slice(0, line.key.length - name.length);
  return extended(line, rows, (row) => {
    const scored = row[SCORED_STEPS];
    const y = row[line.key];
    if (scored === undefined || y === undefined) return undefined;
    return [axis.at(scored), y, row[`${scope}episode/low`] ?? NaN, row[`${scope}episode/high`] ?? NaN];
  });
}

type Point = [x: number, y: number, low: number, high: number];

function extended(line: ChartSeries, rows: readonly Row[], point: (row: Row) => Point | undefined): ChartSeries {
  let last = line.x.length ? line.x[line.x.length - 1]! : -Infinity;
  const added: Point[] = [];
  for (const row of rows) {
    const found = point(row);
    if (found && found[0] > last) {
      added.push(found);
      last = found[0];
    }
  }
  if (!added.length) return line;
  const band = line.low && line.high;
  return {
    ...line,
    x: [...line.x, ...added.map((p) => p[0])],
    y: [...line.y, ...added.map((p) => finite(p[1]))],
    low: band ? [...line.low!, ...added.map((p) => finite(p[2]))] : line.low,
    high: band ? [...line.high!, ...added.map((p) => finite(p[3]))] : line.high,
  };
}

/** Shares of absolute values are defined in rows that have every part, unless all are zero. */
function appendShares(chart: ChartData, rows: readonly Row[]): ChartData {
  const first = chart.series[0];
  if (!first) return chart;
  let last = first.x.length ? first.x[first.x.length - 1]! : -Infinity;
  const xs: number[] = [];
  const shares: number[][] = chart.series.map(() => []);
  for (const row of rows) {
    const x = row[`clock/${chart.x}`];
    const parts = chart.series.map((line) => Math.abs(row[line.key] ?? NaN));
    if (x === undefined || !(x > last)) continue;
    const sum = parts.reduce((a, b) => a + b, 0);
    if (!(sum > 0 && sum < Infinity)) continue;
    xs.push(x);
    last = x;
    parts.forEach((part, i) => shares[i]!.push(part / sum));
  }
  if (!xs.length) return chart;
  const series = chart.series.map((line, i) => ({ ...line, x: [...line.x, ...xs], y: [...line.y, ...shares[i]!] }));
  return { ...chart, series };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
