import { expect, test } from "vitest";
import { placedAt } from "./popover";
import { nextSort, sortedBy } from "./sorting";
import { sparkPath } from "./spark";
import { visibleRows } from "./virtual";

test("missing values are last in both directions, equal ones keep their order", () => {
  const rows = [{ id: "a", v: 2 }, { id: "b", v: null }, { id: "c", v: 1 }, { id: "d", v: NaN }, { id: "e", v: 2 }];
  const ids = (descending: boolean) => sortedBy(rows, (row) => row.v, descending).map((row) => row.id).join("");
  expect(ids(false)).toBe("caebd");
  expect(ids(true)).toBe("aecbd");
  expect(sortedBy(["run-10", "run-9"], (name) => name, false)).toEqual(["run-9", "run-10"]);
  expect(nextSort(undefined, "score", true)).toEqual({ key: "score", descending: true });
  expect(nextSort({ key: "score", descending: true }, "score", true)).toEqual({ key: "score", descending: false });
});

test("the rows that are drawn cover the view", () => {
  for (let top = -500; top < 30_000; top += 137) {
    const { first, end } = visibleRows(top, 600, 28, 1000);
    expect(first).toBeGreaterThanOrEqual(0);
    expect(end).toBeLessThanOrEqual(1000);
    for (const y of [Math.max(0, top), Math.max(0, top + 599)]) {
      const row = Math.floor(y / 28);
      if (row < 1000 && top + 600 > 0) expect(row >= first && row < end).toBe(true);
    }
  }
});

test("floating boxes stay inside the window and off their trigger", () => {
  const box = { width: 200, height: 100 };
  const screen = { width: 400, height: 300 };
  expect(placedAt({ left: 350, right: 390, top: 10, bottom: 30 }, box, screen)).toEqual({ left: 192, top: 34 });
  expect(placedAt({ left: 10, right: 50, top: 270, bottom: 290 }, box, screen)).toEqual({ left: 10, top: 166 });
  expect(placedAt({ left: 300, right: 340, top: 10, bottom: 30 }, box, screen, 4, "end").left).toBe(140);
});

test("sparklines have gaps, a line and a last point inside the box", () => {
  const { path, lineY, last } = sparkPath([[0, 0], [1, 10], [2, null], [3, 5]], 100, 20, 20);
  expect(path.match(/M/g)?.length).toBe(2);
  expect(lineY).toBe(2);
  expect(last).toEqual([98, 14]);
  expect(sparkPath([], 100, 20, null)).toEqual({ path: "", lineY: null, last: null });
  expect(sparkPath([[5, 1]], 100, 20, null).path).toBe("M2 10");
});
