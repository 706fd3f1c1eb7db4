import { describe, expect, test } from "vitest";
import { logTicks } from "./view";

describe("ticks of a logarithmic axis", () => {
  test("are powers of ten, thinned out if there are many", () => {
    expect(logTicks(0.02, 3000)).toEqual([0.1, 1, 10, 100, 1000]);
    expect(logTicks(1e-20, 1).length).toBeLessThanOrEqual(7);
    expect(logTicks(5e-324, 1e300).length).toBeLessThanOrEqual(7);
  });

  test("have further digits if there are few powers", () => {
    expect(logTicks(0.00099884, 1.19)).toEqual([0.001, 0.01, 0.1, 1]);
    expect(logTicks(0.9, 60)).toEqual([1, 2, 5, 10, 20, 50]);
    expect(logTicks(3.2, 8.5)).toEqual([4, 5, 6, 7, 8]);
    expect(logTicks(3.15, 3.27)).toEqual([3.15, 3.27]);
  });

  test("are inside the range and ascending for any range", () => {
    for (let i = 0; i < 500; i++) {
      const low = 10 ** (Math.sin(i) * 12);
      const high = low * (1 + Math.abs(Math.tan(i)));
      const ticks = logTicks(low, high);
      expect(ticks.length).toBeGreaterThan(0);
      expect(ticks.length).toBeLessThan(10);
      for (const [at, tick] of ticks.entries()) {
        expect(tick).toBeGreaterThan(ticks[at - 1] ?? 0);
        expect(tick).toBeGreaterThanOrEqual(low * 0.99);
        expect(tick).toBeLessThanOrEqual(high * 1.01);
      }
    }
  });

  test("do not exist without a positive range", () => {
    for (const [low, high] of [[0, 1], [-1, 1], [NaN, 1], [1, Infinity], [2, 1]] as const) expect(logTicks(low, high)).toEqual([]);
  });
});
