import { expect, it } from "vitest";
import type { ChartData, MetricCurves } from "../../../api/types";
import { ClockAxis } from "./axis";
import { atScoredPolicies, extent, scaledEach, withMargin, zoomed, zoomKeys } from "./zoom";

const chart = (kind: ChartData["kind"], keys: string[], y: number[] = [1, 2], scale_each = false) =>
  ({ kind, scale_each, series: keys.map((key) => ({ key, label: key, x: [1, 2], y, low: null, high: null })) }) as unknown as ChartData;
const curves = (series: Record<string, number[]>, total = 2): MetricCurves => ({
  x: "vec_steps", range: null, runs: [],
  series: Object.entries(series).map(([key, mean]) => ({ run: "a", key, x: new Float64Array([5, 6]), mean: new Float64Array(mean), low: new Float64Array(mean), high: new Float64Array(mean), total })),
});

it("asks for every metric of training once", () => {
  expect(zoomKeys([chart("line", ["eval:episode/return", "episode/return"]), chart("line", ["episode/return", "policy/kl"])])).toEqual(
    ["episode/return", "policy/kl"]);
});
it("replaces the points, with a band only if points were averaged", () => {
  const exact = zoomed(chart("line", ["policy/kl", "eval:episode/return"]), curves({ "policy/kl": [7, NaN] }));
  expect(exact.series[0]).toMatchObject({ x: [5, 6], y: [7, null], low: null });
  expect(exact.series[1]).toMatchObject({ x: [1, 2], y: [1, 2] });
  expect(zoomed(chart("line", ["policy/kl"]), curves({ "policy/kl": [7, 8] }, 999)).series[0]).toMatchObject({ low: [7, 8], high: [7, 8] });
  const other = chart("line", ["policy/kl"]);
  expect(zoomed(other, curves({}))).toBe(other);
});
it("computes shares of zoomed stacks", () => {
  const shares = zoomed(chart("stacked", ["time/env", "time/rest"]), curves({ "time/env": [3, 0], "time/rest": [1, 0] }));
  expect(shares.series.map((line) => line.y)).toEqual([[0.75, null], [0.25, null]]);
});
it("scales each series to its largest absolute value", () => {
  expect(scaledEach(chart("line", ["a"], [-4, 2], true)).series[0]!.y).toEqual([-1, 0.5]);
  expect(scaledEach(chart("line", ["a"], [0, 0], true)).series[0]!.y).toEqual([0, 0]);
  expect(scaledEach(chart("line", ["a"], [1, 2], true), chart("line", ["a"], [8, 2])).series[0]!.y).toEqual([0.125, 0.25]);
});
it("finds what all charts cover", () => {
  expect(extent([chart("line", ["a"]), { ...chart("line", []), series: [{ x: [0, 9] }, { x: [] }] } as unknown as ChartData])).toEqual([0, 9]);
  expect(extent([])).toBeUndefined();
  expect(withMargin([100, 200])).toEqual([95, 205]);
});
it("places evaluations at the policies that they scored", () => {
  const axis = new ClockAxis([100, 200], [10, 20]);
  const found = curves({ "eval:episode/return": [1, 2], "eval:clock/env_steps": [50, 150], "policy/kl": [3, 4] });
  const placed = atScoredPolicies(found, axis).series;
  expect(placed.map((series) => [...Array.from(series.x)])).toEqual([[5, 15], [5, 15], [5, 6]]);
  const reduced = curves({ "eval:episode/return": [1, 2], "eval:clock/env_steps": [50, 150] }, 99);
  expect(Array.from(atScoredPolicies(reduced, axis).series[0]!.x)).toEqual([5, 6]);
});
