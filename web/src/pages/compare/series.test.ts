import { describe, expect, test } from "vitest";
import type { MetricCurves, SeedCurves } from "../../api/types";
import { chartSeries, covers, isComplete, pointsPerRun, sideOfLine, withMargin, type Drawing } from "./series";
import type { Side } from "./sides";

const SIDES: Side[] = [
  { ref: "base", label: "base", runs: ["a0", "a1"], kind: "group" },
  { ref: "c0", label: "alone", runs: ["c0"], kind: "run" },
];
const DRAWING: Drawing = {
  key: "policy/kl",
  sides: SIDES,
  hidden: new Set(),
  color: (ref) => `color of ${ref}`,
  dash: () => undefined,
  nameOf: (id) => `name of ${id}`,
};
const curve = (run: string, mean: number[], spread = 0, key = "policy/kl") => ({
  run,
  key,
  x: mean.map((_, i) => i),
  mean,
  low: mean.map((y) => y - spread),
  high: mean.map((y) => y + spread),
  total: mean.length * 10,
});
const CURVES: MetricCurves = {
  x: "vec_steps",
  range: null,
  runs: [],
  series: [curve("a0", [1, 2]), curve("c0", [5, NaN, 6], 1), curve("a1", [3, 4]), curve("c0", [9], 0, "policy/entropy")],
};
const SEEDS: SeedCurves = {
  x: "vec_steps",
  groups: [
    { name: "base", runs: ["a0", "a1"], series: [{ key: "policy/kl", x: [0, 1], mean: [2, 3], low: [1, 2], high: [3, 4], n: [2, 2] }] },
  ],
};

describe("the lines of a chart", () => {
  test("of a group are its seeds, faint and behind, and its mean with a band", () => {
    const lines = chartSeries(DRAWING, CURVES, SEEDS);
    expect(lines.map((line) => [line.key, line.faint ?? false, line.low !== undefined])).toEqual([
      ["base/a0", true, false],
      ["base/a1", true, false],
      ["base", false, true],
      ["c0", false, true],
    ]);
    expect(new Set(lines.slice(0, 3).map((line) => line.color))).toEqual(new Set(["color of base"]));
    expect(lines[3]!.y).toBe(CURVES.series[1]!.mean); // the recorded values themselves
  });

  test("have a band for a run only if its curve was reduced", () => {
    const plain = { ...CURVES, series: [curve("c0", [1, 2, 3])] };
    expect(chartSeries(DRAWING, plain, undefined).map((line) => line.low)).toEqual([undefined]);
  });

  test("are drawn before the means over seeds have arrived", () => {
    expect(chartSeries(DRAWING, CURVES, undefined).map((line) => line.key)).toEqual(["base/a0", "base/a1", "c0"]);
    expect(chartSeries(DRAWING, undefined, undefined)).toEqual([]);
  });

  test("of hidden sides are left out", () => {
    const lines = chartSeries({ ...DRAWING, hidden: new Set(["base"]) }, CURVES, SEEDS);
    expect(lines.map((line) => line.key)).toEqual(["c0"]);
  });

  test("belong to a side", () => {
    expect(sideOfLine("base/a1", SIDES)!.ref).toBe("base");
    expect(sideOfLine("c0", SIDES)!.ref).toBe("c0");
    expect(sideOfLine("base/c0", SIDES)).toBeNull();
    expect(sideOfLine(null, SIDES)).toBeNull();
  });
});

describe("a zoom", () => {
  test("reads a little more than it shows", () => {
    const zoom = { low: 100, high: 200 };
    expect(withMargin(zoom)).toEqual({ low: 75, high: 225 });
    expect(covers(withMargin(zoom), zoom)).toBe(true);
    expect(covers(withMargin(zoom), { low: 90, high: 230 })).toBe(false);
  });

  test("needs no data if every point is there", () => {
    expect(isComplete(CURVES)).toBe(false);
    expect(isComplete({ ...CURVES, series: CURVES.series.map((series) => ({ ...series, total: series.x.length })) })).toBe(true);
    expect(isComplete({ ...CURVES, series: [] })).toBe(true);
  });
});

describe("points per run", () => {
  test("are at most one per pixel, and below 1 MB for 200 runs", () => {
    expect(pointsPerRun(1, 500)).toBe(500);
    expect(pointsPerRun(10, 3000)).toBe(800);
    for (const runs of [1, 10, 100, 200]) {
      const headers = runs * 150;
      expect(runs * pointsPerRun(runs, 1400) * 3 * 8 + headers).toBeLessThan(1e6);
    }
    expect(pointsPerRun(100_000, 500)).toBe(60);
  });
});
