import { describe, expect, test } from "vitest";
import { outcomeCharts, ratingLines, roleColor, winLines } from "./curves";

const ROLES = ["seeker", "hider"];
const curve = (role: string, label: string) => ({ role, label, x: [0, 1], y: [0.25, 0.5] });

describe("the lines of self-play", () => {
  test("have the color of their role in every chart", () => {
    const ratings = ratingLines([{ role: "hider", x: [0], rating: [1000], low: [900], high: [1100] }], ROLES);
    const wins = winLines([curve("seeker", "weak"), curve("hider", "weak"), curve("hider", "strong")], ROLES);
    expect(ratings[0]!.color).toBe(roleColor("hider", ROLES));
    expect(wins.map((line) => line.color)).toEqual([roleColor("seeker", ROLES), ratings[0]!.color, ratings[0]!.color]);
    expect(roleColor("seeker", ROLES)).not.toBe(roleColor("hider", ROLES));
  });

  test("differ in dash and label by opponent, and have different keys", () => {
    const wins = winLines([curve("seeker", "weak"), curve("seeker", "strong"), curve("hider", "weak")], ROLES);
    expect(new Set(wins.map((line) => line.key)).size).toBe(3);
    expect(wins[0]!.dash).toEqual(wins[2]!.dash);
    expect(wins[0]!.dash).not.toEqual(wins[1]!.dash);
    expect(wins.map((line) => line.label)).toEqual(["seeker weak", "seeker strong", "hider weak"]);
    expect(winLines([curve("seeker", "against each other")], ROLES)[0]!.label).toBe("seeker");
  });

  test("of outcomes are one chart per role, with one color per outcome", () => {
    const charts = outcomeCharts([curve("seeker", "tag"), curve("seeker", "timeout"), curve("hider", "timeout")]);
    expect(charts.map((chart) => [chart.role, chart.series.map((line) => line.label)])).toEqual([
      ["seeker", ["tag", "timeout"]],
      ["hider", ["timeout"]],
    ]);
    expect(charts[0]!.series[1]!.color).toBe(charts[1]!.series[0]!.color);
    expect(charts[0]!.series[0]!.color).not.toBe(charts[0]!.series[1]!.color);
  });
});
