import { describe, expect, test } from "vitest";
import { colorOf, colorsOf } from "../../chart/colors";
import { panelsOf } from "./panels";
import { histogramSeries, inksOf, lineSeries, shareSeries } from "./series";
import { makeChart, makeSeries } from "./testReport";

const ROLES = ["seeker", "hider"];
const approaches = colorsOf(["selfplay", "curriculum"]);

function panel(chart: ReturnType<typeof makeChart>) {
  return panelsOf(chart)[0]!;
}

describe("colors", () => {
  const single = makeChart("seeker:policy/kl", { series: ROLES.map((role) => makeSeries({ role, label: role })) });
  const inks = inksOf([single], approaches);

  test("of an approach are the same in every chart", () => {
    for (const column of ["episode/return", "policy/kl"]) {
      const chart = makeChart(column, { about: "approach", series: ["curriculum", "selfplay"].map((approach) => makeSeries({ approach, label: approach })) });
      const lines = lineSeries(panel(chart), inks);
      expect(lines.map(({ label, color }) => [label, color])).toEqual(["curriculum", "selfplay"].map((name) => [name, approaches.get(name)?.color]));
    }
  });

  test("of roles differ", () => {
    const [seeker, hider] = lineSeries(panel(single), inks);
    expect(seeker?.color).not.toBe(hider?.color);
  });

  test("of a single agent are those of its run", () => {
    expect(lineSeries(panel(makeChart("policy/kl", { run: "k3jx" })), inks)[0]?.color).toBe(colorOf("k3jx").color);
  });
});

test("a band needs a value at every point", () => {
  const lines = [makeSeries({ low: [0, 0], high: [1, 1] }), makeSeries({ label: "none" })];
  const [banded, bare] = lineSeries(panel(makeChart("policy/kl", { series: lines })), inksOf([], approaches));
  expect(banded).toMatchObject({ low: [0, 0], high: [1, 1] });
  expect(bare?.low).toBeUndefined();
});

test("unknown outcomes are last, and gray", () => {
  const shares = ["unknown", "timeout", "tag"].map((label) => makeSeries({ label }));
  const chart = makeChart("match/tag_share", { kind: "stacked shares", series: shares });
  const areas = shareSeries(panel(chart), inksOf([chart], approaches));
  expect(areas.map(({ label }) => label)).toEqual(["tag", "timeout", "unknown"]);
  expect(areas.map(({ color }) => color === "var(--muted)")).toEqual([false, false, true]);
});

test("a histogram has one edge more than counts", () => {
  const halves = ["first half of training", "second half"].map((label) => makeSeries({ label, role: "seeker", x: [0, 10, 20], y: [0.25, 0.75] }));
  const chart = makeChart("length", { kind: "histogram", series: halves });
  const [first, second] = histogramSeries(panel(chart), inksOf([chart], approaches));
  expect(first?.edges.length).toBe((first?.counts.length ?? 0) + 1);
  expect(first?.color).not.toBe(second?.color);
});
