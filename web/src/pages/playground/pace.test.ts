import { expect, test } from "vitest";
import { Pace, runSlice, SPEEDS } from "./pace";

test("every speed does its steps per second, in frames of any length", () => {
  for (const speed of SPEEDS.filter(Number.isFinite)) {
    const pace = new Pace();
    let steps = 0;
    for (let i = 0; i < 600; i++) steps += pace.due(i % 2 ? 1 / 30 : 1 / 60, speed);
    expect(Math.abs(steps - speed * 15)).toBeLessThanOrEqual(1);
  }
  expect(new Pace().due(0.016, Infinity)).toBe(Infinity);
});

test("a page that was hidden for an hour does not catch up", () => {
  expect(new Pace().due(3600, 20_000)).toBeLessThan(2100);
  expect(new Pace().due(3600, 1)).toBe(1);
});

test("a slice ends when its time is over, its steps are done, or nothing is left", () => {
  let clock = 0;
  const now = () => (clock += 1);
  expect(runSlice(() => true, Infinity, now, 8, 16)).toBe(16 * 8);
  expect(runSlice(() => true, 5, now)).toBe(5);
  let left = 3;
  expect(runSlice(() => --left > 0, Infinity, now)).toBe(3);
  expect(runSlice(() => true, 0, now)).toBe(0);
});
