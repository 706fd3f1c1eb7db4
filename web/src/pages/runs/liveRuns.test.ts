import { expect, test } from "vitest";
import { filterMayChange } from "./liveRuns";
import { testRun } from "./testRuns";

const a = testRun({ id: "a", status: "running" });
const b = testRun({ id: "b" });

test("new metrics do not change the result of a filter", () => {
  const running = { ...a, n_alerts: 1, updated: 9, clocks: { env_steps: 5 }, progress: 0.5 };
  expect(filterMayChange([a, b], [running, b])).toBe(false);
  expect(filterMayChange([a, b], [b, a])).toBe(false);
});

test("the fields of the grammar, and runs that come or go, may change it", () => {
  for (const change of [{ status: "lost" }, { tags: ["x"] }, { solved: true }, { name: "n" }, { group: "g" }])
    expect(filterMayChange([a, b], [{ ...a, ...change }, b])).toBe(true);
  expect(filterMayChange([a, b], [a])).toBe(true);
  expect(filterMayChange([a, b], [a, testRun({ id: "c" })])).toBe(true);
});
