import { expect, test } from "vitest";
import { curveRange } from "./curveRange";

const late = Array.from({ length: 100 }, (_, i) => -20 - (i % 10));

test("bad first episodes do not hide the differences of the others", () => {
  const [low, high] = curveRange([[-1500, -900, -400, ...late], late.map((value) => value - 10)]) ?? [NaN, NaN];
  expect(low).toBeGreaterThan(-60);
  expect(low).toBeLessThan(-35);
  expect(high).toBeGreaterThanOrEqual(-20);
});

test("all values are shown if they have room, or if there are few", () => {
  expect(curveRange([[-35, ...late]])).toBeUndefined();
  expect(curveRange([[-1500, -20]])).toBeUndefined();
  expect(curveRange([[0, 0, 0, ...late.map(() => 1)]])).toBeUndefined();
  expect(curveRange([[0, 0, 1, 1], late])).toBeUndefined();
  expect(curveRange([])).toBeUndefined();
});
