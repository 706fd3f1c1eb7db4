import { describe, expect, test } from "vitest";
import type { RoleCurve } from "../../api/types";
import { aligned, durationSeries, outcomeCharts, ratingLines, roleColor, winCharts } from "./curves";

const ROLES = ["seeker", "hider"];
const curve = (role: string, label: string, x = [0, 1]): RoleCurve => ({
  role,
  label,
  x,
  y: x.map((at) => at / 10),
  low: x.map(() => 0),
  high: x.map(() => 1),
});

describe("the lines of self-play", () => {
  test("have the color of their role", () => {
    const [line] = ratingLines([{ role: "hider", x: [0], rating: [1000], low: [900], high: [1100] }], ROLES);
    const durations = durationSeries([{ role: "hider", edges: [0, 10], counts: [2] }, { role: "", edges: [0, 1], counts: [0] }], ROLES);
    expect(line!.color).toBe(roleColor("hider", ROLES));
    expect(durations.map((one) => one.color)).toEqual([roleColor("hider", ROLES), roleColor("", ROLES)]);
    expect(durations.map((one) => one.label)).toEqual(["evaluation of hider, median 5", "training"]);
    expect(new Set([...ROLES, ""].map((role) => roleColor(role, ROLES))).size).toBe(3);
  });

  test("of win rates are one chart per role, with one line per opponent", () => {
    const charts = winCharts([curve("seeker", "scripted:weak"), curve("seeker", "all scripted opponents"), curve("hider", "scripted:weak")]);
    expect(charts.map((chart) => [chart.role, chart.series.map((line) => line.label)])).toEqual([
      ["seeker", ["weak (scripted)", "all scripted opponents"]],
      ["hider", ["weak (scripted)"]],
    ]);
    expect(charts[0]!.series[0]!.color).toBe(charts[1]!.series[0]!.color);
    expect(charts[0]!.series.map((line) => line.low !== undefined)).toEqual([false, true]);
  });

  test("of outcomes are one chart per role, with one color per outcome", () => {
    const charts = outcomeCharts([curve("seeker", "tag"), curve("seeker", "timeout"), curve("hider", "timeout")]);
    expect(charts.map((chart) => [chart.role, chart.series.map((line) => line.label)])).toEqual([
      ["seeker", ["tag", "timeout"]],
      ["hider", ["timeout"]],
    ]);
    expect(charts[0]!.series[1]!.color).toBe(charts[1]!.series[0]!.color);
    expect(charts[0]!.series[0]!.color).not.toBe(charts[0]!.series[1]!.color);
    const [chart] = outcomeCharts([curve("", "unknown"), curve("", "tag"), curve("", "timeout")]);
    expect(chart!.series[0]!.color).toBe("var(--muted)");
    expect(chart!.series.slice(1).map((line) => line.color)).toEqual(charts[0]!.series.map((line) => line.color));
  });
});

describe("stacked series", () => {
  const series = (x: number[]) => outcomeCharts([curve("", "tag", x)])[0]!.series[0]!;

  test("stay as they are at common positions", () => {
    const both = [series([0, 10, 20]), series([0, 10, 20])];
    expect(aligned(both)).toEqual(both);
  });

  test("are interpolated at the positions of all, and missing outside of their own", () => {
    const [first, second] = aligned([series([0, 20]), series([5, 10, 30])]);
    expect(first!.x).toEqual([0, 5, 10, 20, 30]);
    expect(second!.x).toEqual(first!.x);
    expect(first!.y).toEqual([0, 0.5, 1, 2, NaN]); // y is x / 10
    expect(second!.y).toEqual([NaN, 0.5, 1, 2, 3]);
  });
});
