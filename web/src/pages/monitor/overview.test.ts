import { describe, expect, test } from "vitest";
import { sortedBy } from "../../ui/sorting";
import { numberColumns } from "./overview";
import { makeRole, makeRow } from "./testReport";

const tag = makeRow("a", {
  roles: [makeRole("seeker", { rolling_win_rate: 0.625, rolling_win_low: 0.5, rolling_win_high: 0.75 }), makeRole("hider", { final_return: -2 })],
  outcomes: { unknown: 0.125, timeout: 0.25, tag: 0.625 },
});
const cart = makeRow("b", { mean_length: null });

describe("the overview", () => {
  test("has the columns of the roles and outcomes that any run has", () => {
    expect(numberColumns([tag, cart]).map((column) => column.key)).toEqual([
      "episodes",
      "seeker:final_return",
      "seeker:rolling_win_rate",
      "hider:final_return",
      "final_return",
      "outcome:tag",
      "outcome:timeout",
      "outcome:unknown",
      "mean_length",
    ]);
    expect(numberColumns([cart]).map((column) => column.key)).toEqual(["episodes", "final_return"]);
  });

  test("has all digits, and nothing where a run has no value", () => {
    const columns = new Map(numberColumns([tag, cart]).map((column) => [column.key, column]));
    expect(columns.get("seeker:final_return")?.cell(tag)).toEqual({ text: "0.33", detail: "best 0.67", exact: `${1 / 3}, best ${2 / 3}` });
    expect(columns.get("seeker:rolling_win_rate")?.cell(tag)).toEqual({ text: "62.5%", detail: "[50.0, 75.0]", exact: "0.625 [0.5, 0.75]" });
    expect(columns.get("outcome:unknown")?.cell(cart)).toBeNull();
    expect(columns.get("mean_length")?.cell(cart)).toBeNull();
  });

  test("is sorted by the values, missing ones last", () => {
    const value = numberColumns([tag, cart]).find((column) => column.key === "hider:final_return")!.value;
    for (const descending of [true, false]) {
      expect(sortedBy([cart, tag], value, descending).map((row) => row.run)).toEqual(["a", "b"]);
    }
  });
});
