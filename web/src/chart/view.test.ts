import { describe, expect, test } from "vitest";
import { covered, extremes, firstFrom, indicesIn, nearest, padded, panned, spread, within, zoomed, type Range } from "./view";

const LIMITS: Range = [0, 100];

describe("zoom", () => {
  test("the position under the pointer stays where it is", () => {
    for (const center of [20, 35, 50]) {
      const view = zoomed([10, 60], 0.5, center, LIMITS) as Range;
      expect(view[1] - view[0]).toBeCloseTo(25);
      expect((center - view[0]) / (view[1] - view[0])).toBeCloseTo((center - 10) / 50);
    }
  });
  test("zooming out far enough shows everything, and never more", () => {
    let view: Range | null = [40, 45];
    for (let i = 0; i < 20 && view; i++) view = zoomed(view, 2, 42, LIMITS);
    expect(view).toBeNull();
  });
  test("zooming in ends before numbers do", () => {
    let view: Range = LIMITS;
    for (let i = 0; i < 200; i++) view = zoomed(view, 0.5, 33.3, LIMITS) ?? view;
    expect(view[1]).toBeGreaterThan(view[0]);
  });
  test("moving keeps the width and stays inside", () => {
    expect(panned([10, 20], 0.5, LIMITS)).toEqual([15, 25]);
    expect(panned([85, 95], 2, LIMITS)).toEqual([90, 100]);
    expect(panned([5, 15], -3, LIMITS)).toEqual([0, 10]);
  });
  test("a view without width or outside is none", () => {
    expect(within([5, 5], LIMITS)).toBeNull();
    expect(within([200, 300], LIMITS)).toBeNull();
    expect(within([-10, 50], LIMITS)).toEqual([0, 50]);
  });
});

test("searching agrees with looking at every value", () => {
  const x = [0, 1, 1, 2, 5, 5, 9];
  for (let position = -1; position <= 10; position += 0.25) {
    const after = x.findIndex((value) => value >= position);
    expect(firstFrom(x, position)).toBe(after < 0 ? x.length : after);
    const best = Math.min(...x.map((value) => Math.abs(value - position)));
    expect(Math.abs((x[nearest(x, position)] ?? NaN) - position)).toBe(best);
  }
  expect(nearest([], 1)).toBe(-1);
});

test("a view includes the points next to it, so that lines reach its edges", () => {
  expect(indicesIn([0, 10, 20, 30, 40], [15, 25])).toEqual([1, 4]);
  expect(indicesIn([0, 10, 20], [-5, 50])).toEqual([0, 3]);
  expect(indicesIn([], [0, 1])).toEqual([0, 0]);
});

test("the range of the data, without gaps and, on a log axis, without zero", () => {
  expect(covered([[], [3, 9], [1, 4]])).toEqual([1, 9]);
  expect(covered([[]])).toBeNull();
  const found: [number, number] = [Infinity, -Infinity];
  extremes([NaN, null, 0, -2, Infinity, 7], 0, 6, false, found);
  expect(found).toEqual([-2, 7]);
  const positive: [number, number] = [Infinity, -Infinity];
  extremes([0, -2, 0.5, 7], 0, 4, true, positive);
  expect(positive).toEqual([0.5, 7]);
});

test("the y axis has room, but does not cross zero without need", () => {
  expect(padded(0.01, 1, false)[0]).toBe(0);
  expect(padded(-1, -0.01, false)[1]).toBe(0);
  const [low, high] = padded(5, 5, false);
  expect(low).toBeLessThan(5);
  expect(high).toBeGreaterThan(5);
  expect(padded(Infinity, -Infinity, false)).toEqual([0, 1]);
  expect(padded(2, 2, true)).toEqual([1, 4]);
});

test("labels are moved apart, stay inside and in order", () => {
  const centers = [50, 52, 51, 98, 99, 1];
  const placed = spread(centers, 13, 100);
  const order = [...centers.keys()].sort((a, b) => (centers[a] ?? 0) - (centers[b] ?? 0));
  const sorted = order.map((i) => placed[i] ?? 0);
  sorted.slice(1).forEach((value, i) => expect(value - (sorted[i] ?? 0)).toBeGreaterThanOrEqual(13 - 1e-9));
  expect(sorted.at(-1)).toBeLessThanOrEqual(100 - 6.5);
});
