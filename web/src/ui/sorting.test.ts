import { expect, test } from "vitest";
import { sortedBy } from "./sorting";

test("lists are compared number by number, and the most comparable rows come first in both directions", () => {
  const rows = [[0, 500], null, [2, 90, 5], [1, 400], [2, 80, 3], [2, 90, 7]] as const;
  const comparable = [rows[2], rows[4], rows[5]];
  expect(sortedBy(rows, (row) => row, true)).toEqual([rows[5], rows[2], rows[4], rows[3], rows[0], null]);
  expect(sortedBy(rows, (row) => row, false)).toEqual([rows[4], rows[2], rows[5], rows[3], rows[0], null]);
  expect(new Set(sortedBy(rows, (row) => row, true).slice(0, 3))).toEqual(new Set(comparable));
});

test("numbers and texts are sorted as before, and missing values come last", () => {
  expect(sortedBy([3, null, 1, Number.NaN, 2], (value) => value, true)).toEqual([3, 2, 1, null, Number.NaN]);
  expect(sortedBy(["b10", "b9", "a"], (value) => value, false)).toEqual(["a", "b9", "b10"]);
});
