import { describe, expect, test } from "vitest";
import type { ComparedGroup, ComparedRun, Comparison } from "../../api/types";
import { COLUMNS, compareArguments, filledColumns, isAbout, sideResults, sortResults } from "./results";
import type { Side } from "./sides";

function run(id: string, final: number | null, steps: number | null, best = final): ComparedRun {
  const score = final === null ? null : { mean: final, low: final - 1, high: final + 1 };
  const learning = { steps_to_threshold: steps, seconds_to_threshold: steps === null ? null : steps / 1000 };
  return { id, final, best, area: final, score, learning } as ComparedRun;
}

function group(name: string, mean: number, width: number, n: number, steps: number): ComparedGroup {
  const estimate = (value: number) => ({ mean: value, low: value - width, high: value + width });
  return { name, score: estimate(mean), iqm: estimate(mean), area: estimate(mean), best: estimate(mean), steps_to_threshold: estimate(steps), seconds_to_threshold: estimate(steps / 1000), scored: n } as ComparedGroup;
}

const SIDES: Side[] = [
  { ref: "base", label: "base", runs: ["a0", "a1"], kind: "group" },
  { ref: "fast", label: "fast", runs: ["b0", "b1"], kind: "group" },
  { ref: "c0", label: "alone", runs: ["c0"], kind: "run" },
  { ref: "d0", label: "new", runs: ["d0"], kind: "run" },
];
const COMPARISON = {
  runs: [run("a0", 0, 100), run("a1", 2, 300), run("b0", 9, 50), run("b1", 11, null), run("c0", 5, 10), run("d0", null, null)],
  groups: [group("base", 1, 1, 2, 200), group("fast", 10, 1, 2, 50)],
  improvements: [
    { a: "base", b: "fast", probability: 0.1, low: 0, high: 0.4, difference: { mean: -9, low: -12, high: -6 }, exceeds_noise: true, measures: [] },
  ],
} as unknown as Comparison;

const rows = sideResults(COMPARISON, SIDES, "base");
const [base, fast, alone, fresh] = rows as [(typeof rows)[0], (typeof rows)[0], (typeof rows)[0], (typeof rows)[0]];

describe("the table of a comparison", () => {
  test("has the estimates of groups and the values of runs", () => {
    expect(base.cells.iqm).toEqual({ value: 1, low: 0, high: 2 });
    expect(base.cells.best.value).toBe(1);
    expect(base.cells.seconds.value).toBeCloseTo(0.2);
    expect(base.cells.n.value).toBe(2);
    expect([base.reached, fast.reached, alone.reached]).toEqual([2, 1, 1]);
    expect(alone.cells.final).toEqual({ value: 5, low: 4, high: 6 });
    expect(fresh.cells.final.value).toBeNull();
    expect(fresh.cells.n.value).toBe(0);
  });

  test("judges every column in its direction, against the baseline", () => {
    for (const { id } of COLUMNS) expect(base.judgments[id].relation).toBe("unknown");
    expect(fast.judgments.final).toEqual({ relation: "better", exceedsNoise: true });
    expect(fast.judgments.steps.relation).toBe("better"); // fewer steps
    expect(fast.judgments.iqm).toEqual({ relation: "better", exceedsNoise: true });
    expect(fast.judgments.n.relation).toBe("unknown");
    expect(fast.cells.probability.value).toBeCloseTo(0.9);
    expect(alone.cells.probability.value).toBeNull();
    expect(fresh.judgments.final.relation).toBe("unknown");
    const others = sideResults(COMPARISON, SIDES, "fast");
    expect(others[0]!.judgments.steps.relation).toBe("worse");
  });
});

test("sides that cannot be compared are not judged", () => {
  const apart = COMPARISON.improvements.map((entry) => ({ ...entry, probability: null, exceeds_noise: null, problem: "other environments" }));
  const [, row] = sideResults({ ...COMPARISON, improvements: apart }, SIDES, "base");
  for (const { id } of COLUMNS) expect(row!.judgments[id].relation).toBe("unknown");
  expect(row!.cells.final.value).toBe(10);
});

describe("columns", () => {
  test("without any value are left out", () => {
    const single = sideResults({ ...COMPARISON, groups: [], improvements: [] }, SIDES.slice(2), "c0");
    expect(filledColumns(single).map((column) => column.id)).toEqual(["final", "area", "steps", "seconds", "best", "n"]);
    expect(filledColumns(rows).map((column) => column.id)).toEqual(COLUMNS.map((column) => column.id));
  });

  test("P(better) needs two seeds per side", () => {
    const untested = COMPARISON.improvements.map((entry) => ({ ...entry, exceeds_noise: null }));
    const [, row] = sideResults({ ...COMPARISON, improvements: untested }, SIDES, "base");
    expect(row!.cells.probability.value).toBeNull();
  });
});

describe("sorting", () => {
  const order = (column: Parameters<typeof sortResults>[1], descending: boolean) =>
    sortResults(rows, column, descending).map((row) => row.side.ref);

  test("puts missing values last in both directions", () => {
    expect(order("final", false)).toEqual(["base", "c0", "fast", "d0"]);
    expect(order("final", true)).toEqual(["fast", "c0", "base", "d0"]);
    expect(order("probability", false)).toEqual(["fast", "base", "c0", "d0"]);
    expect(order("probability", true)).toEqual(["fast", "base", "c0", "d0"]);
  });

  test("treats zero as a value", () => {
    const zero = sideResults({ ...COMPARISON, runs: [run("c0", 0, 0), run("d0", -1, null)], groups: [] }, SIDES.slice(2), "c0");
    expect(sortResults(zero, "final", true).map((row) => row.cells.final.value)).toEqual([0, -1]);
    expect(sortResults(zero, "steps", true).map((row) => row.cells.steps.value)).toEqual([0, null]);
  });

  test("orders names", () => {
    expect(order("name", false)).toEqual(["c0", "base", "fast", "d0"]);
  });
});

describe("the arguments of compare", () => {
  test("have the baseline last, or first among many sides", () => {
    expect(compareArguments(SIDES, "base", "env_steps")).toEqual({ refs: ["fast", "c0", "d0", "base"], x: "env_steps" });
    const many = Array.from({ length: 13 }, (_, i): Side => ({ ref: `r${i}`, label: "", runs: [`r${i}`], kind: "run" }));
    const { refs } = compareArguments(many, "r5", "vec_steps");
    expect(refs[0]).toBe("r5");
    expect(new Set(refs)).toEqual(new Set(many.map((side) => side.ref)));
  });

  test("have the clock of the page, whatever it is", () => {
    expect(compareArguments(SIDES, "base", "rollouts").x).toBe("rollouts");
  });
});

test("a comparison of other sides is recognized", () => {
  expect(isAbout(COMPARISON, SIDES.slice(0, 2))).toBe(true);
  expect(isAbout(COMPARISON, SIDES.slice(0, 1))).toBe(false);
  expect(isAbout(COMPARISON, SIDES.slice(1, 3))).toBe(false);
  const single = { ...COMPARISON, groups: [], runs: [run("d0", 1, 1), run("c0", 1, 1)] };
  expect(isAbout(single, SIDES.slice(2))).toBe(true);
});
