import { expect, test } from "vitest";
import { isActive, mayChange, progressOf, progressText, ranked, settingsText, studyPath } from "./study";

test("the address of a study has its name", () => {
  expect(studyPath("my study")).toBe("/sweeps/my%20study");
});

test("only a study that is over is not read again", () => {
  expect(["running", "interrupted", "finished"].map((status) => mayChange({ status: status as "running" }))).toEqual([true, true, false]);
  expect(isActive({ status: "interrupted" })).toBe(false);
});

test("progress names the planned trials until they are there", () => {
  expect(progressText({ trials: 3, planned_trials: 20 })).toBe("3 of 20");
  expect(progressText({ trials: 20, planned_trials: 20 })).toBe("20");
});

test("plots are read again when a result arrives, not when time passes", () => {
  const study = { status: "running", trials: 3, units: 2, running_units: 1, confirmed: false, seconds: 10 } as const;
  expect(progressOf({ ...study, seconds: 99 })).toBe(progressOf(study));
  expect(progressOf({ ...study, units: 3 })).not.toBe(progressOf(study));
});

test("settings are written as for --set", () => {
  expect(settingsText({ is_baseline: false, overrides: { "algo.lr": 0.001, "algo.clip": "0.2 -> 0", "policy.hidden": [64, 64] } })).toBe(
    "algo.lr=0.001 algo.clip=0.2 -> 0 policy.hidden=[64,64]",
  );
  expect(settingsText({ is_baseline: true, overrides: {} })).toBe("no change");
});

test("trials without a value come last", () => {
  const trials = [
    { rank: 1, value: null },
    { rank: 3, value: 1 },
    { rank: 2, value: 2 },
  ];
  expect(ranked(trials).map(({ rank }) => rank)).toEqual([2, 3, 1]);
});
