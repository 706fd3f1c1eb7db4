import { describe, expect, it } from "vitest";
import type { ChartData, ChartSeries } from "../../../api/types";
import { ClockAxis } from "./axis";
import { appendRows, extendAxis, hasNewKeys } from "./live";

const chart = (kind: ChartData["kind"], series: Partial<ChartSeries>[]): ChartData => ({
  name: "c", family: "kl", title: "C", about: "", x: "vec_steps", kind, unit: "", log: false, scale_each: false,
  left_out: 0, healthy: null, range: null, lines: [], ticks: null, alerts: [], events: [],
  series: series.map((line) => ({ key: "", label: "", x: [], y: [], low: null, high: null, ...line })),
});
const row = (vec: number, values: Record<string, number>) => ({
  "clock/vec_steps": vec, "clock/env_steps": vec * 16, ...values,
});

describe("ClockAxis", () => {
  it("interpolates between rows, from 0 on, and stays at the last row", () => {
    const axis = new ClockAxis([160, 320], [10, 30]);
    expect([80, 160, 240, 320, 999].map((s) => axis.at(s))).toEqual([5, 10, 20, 30, 30]);
    expect(new ClockAxis().at(50)).toBe(0);
  });
  it("ignores rows that do not advance", () => {
    const axis = new ClockAxis([160], [10]);
    extendAxis(axis, [row(10, {}), row(20, {})], "vec_steps");
    expect(axis.steps).toEqual([0, 160, 320]);
  });
});

describe("appendRows", () => {
  it("adds points once, and a gap where a value is not finite", () => {
    const before = chart("line", [{ key: "policy/kl", x: [1], y: [0.5] }]);
    const rows = [row(1, { "policy/kl": 9 }), row(2, { "policy/kl": NaN }), row(3, {}), row(4, { "policy/kl": 2 })];
    const after = appendRows(before, rows, new ClockAxis());
    expect(after.series[0]!.x).toEqual([1, 2, 4]);
    expect(after.series[0]!.y).toEqual([0.5, null, 2]);
    expect(appendRows(after, rows, new ClockAxis())).toBe(after);
  });
  it("draws an evaluation at the policy that it scored, with its interval", () => {
    const before = chart("line", [{ key: "eval:episode/return", x: [1], y: [5], low: [4], high: [6] }]);
    const axis = new ClockAxis([16, 320], [1, 20]);
    const late = row(20, {
      "eval:clock/env_steps": 160, "eval:episode/return": 9, "eval:episode/low": 8, "eval:episode/high": 10,
    });
    const line = appendRows(before, [late], axis).series[0]!;
    expect(line.x).toEqual([1, axis.at(160)]);
    expect([line.y, line.low, line.high]).toEqual([[5, 9], [4, 8], [6, 10]]);
  });
  it("keeps shares summing to 1 and skips rows without all parts", () => {
    const before = chart("stacked", [{ key: "time/env", x: [1], y: [1] }, { key: "time/update", x: [1], y: [0] }]);
    const rows = [row(2, { "time/env": 3, "time/update": 1 }), row(3, { "time/env": 1 }), row(4, { "time/env": 0, "time/update": 0 })];
    const after = appendRows(before, rows, new ClockAxis());
    expect(after.series.map((line) => line.y[1])).toEqual([0.75, 0.25]);
    expect(after.series[0]!.x).toEqual([1, 2]);
  });
});

it("hasNewKeys is true only for keys never seen", () => {
  const known = new Set(["a"]);
  expect(hasNewKeys([{ a: 1 }, { b: 1 }], known)).toBe(true);
  expect(hasNewKeys([{ b: 2 }], known)).toBe(false);
});
