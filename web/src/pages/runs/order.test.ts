import { expect, test } from "vitest";
import { compareValues, sorted, type SortValue } from "./order";

const values: SortValue[] = [3, null, -1, Number.NaN, 0, Number.POSITIVE_INFINITY, 10, Number.NEGATIVE_INFINITY];

test("missing values come last in both directions and zero is not missing", () => {
  const up = sorted(values, (value) => value, false);
  expect(up).toEqual([Number.NEGATIVE_INFINITY, -1, 0, 3, 10, Number.POSITIVE_INFINITY, null, Number.NaN]);
  const down = sorted(values, (value) => value, true);
  expect(down).toEqual([Number.POSITIVE_INFINITY, 10, 3, 0, -1, Number.NEGATIVE_INFINITY, null, Number.NaN]);
});

test("comparison is antisymmetric", () => {
  for (const a of values)
    for (const b of values)
      for (const descending of [false, true])
        expect(Math.sign(compareValues(a, b, descending)) === -Math.sign(compareValues(b, a, descending))).toBe(true);
});

test("numbers in texts count as numbers", () => {
  expect(sorted(["s10", "s2", "S1"], (text) => text, false)).toEqual(["S1", "s2", "s10"]);
});

test("items with equal values keep their order in both directions", () => {
  const items = Array.from({ length: 100 }, (_, i) => ({ i, value: i % 3 }));
  for (const descending of [false, true]) {
    const result = sorted(items, (item) => item.value, descending);
    for (let k = 1; k < result.length; k += 1) {
      const [a, b] = [result[k - 1]!, result[k]!];
      if (a.value === b.value) expect(a.i).toBeLessThan(b.i);
    }
  }
});
