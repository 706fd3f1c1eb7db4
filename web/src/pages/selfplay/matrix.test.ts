import { describe, expect, test } from "vitest";
import type { CrossPlayCell, CrossPlayReport } from "../../api/types";
import { cellLabel, cellText, isPolicy, matchTotals, playerLabel, playerText } from "./matrix";

const cell = (rate: number | null, low = 0, high = 1, matches = 50, unknown = 0): CrossPlayCell => ({ rate, low, high, matches, unknown });
const REPORT: CrossPlayReport = {
  run: "k3jx",
  row_role: "seeker",
  column_role: "hider",
  rows: ["scripted:weak", "1200000"],
  columns: ["scripted:medium", "200704"],
  cells: [
    [cell(0.25, 0.1, 0.4), cell(null, 0, 1, 0, 3)],
    [cell(0.9375, 0.83, 0.98), cell(0.5, 0.37, 0.63, 50, 2)],
  ],
  picture: "",
};

describe("the cross-play matrix", () => {
  test("names players by their steps or as scripted", () => {
    expect(["1200000", "step:200704", "scripted:weak", "0"].map(playerLabel)).toEqual(["1.2M", "201k", "weak", "0"]);
    expect(playerText("step:200704")).toBe("policy at 200,704 env steps");
    expect(playerText("scripted:weak")).toBe("scripted opponent weak");
    expect(["1200000", "step:1", "scripted:weak", "random"].map(isPolicy)).toEqual([true, true, false, false]);
  });

  test("shows rates in percent and everything else in words", () => {
    expect(REPORT.cells.flat().map(cellLabel)).toEqual(["25", "–", "94", "50"]);
    expect(cellText(REPORT, 1, 0)).toBe(
      "seeker policy at 1,200,000 env steps against hider scripted opponent medium: win rate of seeker 0.9375 [0.83, 0.98], 50 matches",
    );
    expect(cellText(REPORT, 0, 1)).toContain("no match with a known outcome, and 3 with an unknown outcome");
    expect(cellText(REPORT, 5, 5)).toBe("");
  });

  test("counts its matches", () => {
    expect(matchTotals(REPORT)).toEqual({ known: 150, unknown: 5 });
  });
});
