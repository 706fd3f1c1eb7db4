import { expect, test } from "vitest";
import { filterMayChange } from "./liveRuns";
import { testRun } from "./testRuns";

const a = testRun({ id: "a", status: "running" });
const b = testRun({ id: "b" });

test("new metrics do not change the result of a filter", () => {
  const running = { ...a, n_alerts: 1, updated: 9, clocks: { env_steps: 5 }, progress: 0.5 };
  expect(filterMayChange("env=A", [a, b], [running, b])).toBe(false);
  expect(filterMayChange("env=A", [a, b], [b, a])).toBe(false);
  expect(filterMayChange("progress>50%", [a, b], [running, b])).toBe(true);
});

test("the fields of the grammar, and runs that come or go, may change it", () => {
  for (const change of [{ status: "lost" }, { tags: ["x"] }, { solved: true }, { name: "n" }, { group: "g" }])
    expect(filterMayChange("env=A", [a, b], [{ ...a, ...change }, b])).toBe(true);
  expect(filterMayChange("env=A", [a, b], [a])).toBe(true);
  expect(filterMayChange("env=A", [a, b], [a, testRun({ id: "c" })])).toBe(true);
});
