import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Throttle } from "./throttle";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

it("calls at once, then at most once per pause, and never loses the last request", () => {
  const calls: number[] = [];
  const throttle = new Throttle(1000, () => calls.push(performance.now()));
  const start = performance.now();
  for (let i = 0; i < 50; i++) {
    throttle.soon();
    vi.advanceTimersByTime(50);
  }
  vi.advanceTimersByTime(5000);
  expect(calls[0]! - start).toBeLessThanOrEqual(50);
  for (let i = 1; i < calls.length; i++) expect(calls[i]! - calls[i - 1]!).toBeGreaterThanOrEqual(1000);
  expect(calls.at(-1)! - start).toBeGreaterThanOrEqual(2450);
  expect(calls.length).toBe(4);
});
it("stops", () => {
  const run = vi.fn();
  const throttle = new Throttle(1000, run);
  throttle.soon();
  throttle.stop();
  vi.advanceTimersByTime(5000);
  expect(run).not.toHaveBeenCalled();
});
