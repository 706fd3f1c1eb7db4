import { expect, test } from "vitest";
import type { PlottedTrial } from "../../api/types";
import { axisPlaces, bestPath, groupOf, parallelPath, quality, shownTicks, valueScale, yOf } from "./geometry";

const BOX = { left: 10, top: 20, width: 100, height: 50 };

function trial(number: number, changes: Partial<PlottedTrial> = {}): PlottedTrial {
  return { number, is_baseline: false, state: "complete", value: 1, seeds: [1], best: 1, positions: [], texts: [], runs: [], ...changes };
}

test("the baseline and the best trial have a look of their own", () => {
  expect(groupOf(trial(0, { is_baseline: true }), 0)).toBe("baseline");
  expect(groupOf(trial(3), 3)).toBe("best");
  expect(groupOf(trial(4, { state: "waiting" }), 3)).toBe("waiting");
});

test("the scale covers all values with a margin, and is empty without any", () => {
  const scale = valueScale([10, null, 20, Number.NaN]);
  expect(scale).toEqual({ low: 9.4, high: 20.6 });
  expect(valueScale([null])).toBeNull();
  const same = valueScale([5, 5]);
  expect(same && same.low < 5 && same.high > 5).toBe(true);
});

test("higher values are higher up", () => {
  expect(yOf(1, { low: 0, high: 1 }, BOX)).toBe(20);
  expect(yOf(0, { low: 0, high: 1 }, BOX)).toBe(70);
});

test("the best value so far is a step line that starts at the first result", () => {
  const trials = [trial(0, { best: null }), trial(1, { best: 0 }), trial(2, { best: 1 })];
  expect(bestPath(trials, (n) => 10 * n, { low: 0, high: 1 }, BOX)).toBe("M10.0 70.0H20.0V20.0");
});

test("a parameter that a trial does not use is a gap in its line", () => {
  const axes = axisPlaces(4, BOX);
  expect(axes.map(Math.round)).toEqual([10, 43, 77, 110]);
  expect(parallelPath([0, 1, null, 0.5], axes, BOX)).toBe("M10.0 70.0L43.3 20.0M110.0 45.0");
  expect(axisPlaces(1, BOX)).toEqual([10]);
});

test("the quality of a value is its place among the complete ones", () => {
  expect(quality(15, [10, 20])).toBe(0.5);
  expect(quality(5, [10, 20])).toBe(0);
  expect(quality(null, [1])).toBe(0);
  expect(quality(1, [1])).toBe(1);
});

test("of many choices only some are written, shortened", () => {
  expect(shownTicks(["a", "b", "c", "d"], [0, 0.3, 0.6, 1], 2)).toEqual([
    { text: "a", at: 0 },
    { text: "c", at: 0.6 },
  ]);
  expect(shownTicks(["0.001 -> 0.0001 cosine"], [0], 5)[0]?.text).toBe("0.001 -> 0.0…");
});
