import { describe, expect, test } from "vitest";
import type { RunSummary } from "../../api/types";
import { testRun } from "../runs/testRuns";
import { approachOf, chooseRuns, MAX_RUNS, monitorCommand, waitingRuns } from "./choice";
import { DEFAULT_VIEW, type MonitorView } from "./view";

const STEPS = { env_steps: 1000 };
/** Newest first, as everywhere. */
const RUNS: RunSummary[] = [
  testRun({ id: "new", env: "tag", preset: "tag:selfplay", variant: "selfplay", status: "running", clocks: {} }),
  testRun({ id: "b2", env: "tag", preset: "tag:curriculum", variant: "curriculum", clocks: STEPS }),
  testRun({ id: "a2", env: "tag", preset: "tag:selfplay", variant: "selfplay", clocks: STEPS }),
  testRun({ id: "a1", env: "tag", preset: "tag:selfplay", variant: "selfplay", tags: ["wide"], clocks: STEPS }),
  testRun({ id: "c1", env: "CartPole-v1", preset: "CartPole-v1", variant: "", clocks: STEPS }),
  testRun({ id: "bad", env: "tag", status: "unreadable", clocks: STEPS }),
];

function choose(view: Partial<MonitorView> = {}) {
  return chooseRuns(RUNS, { ...DEFAULT_VIEW, ...view });
}

function ids(runs: readonly RunSummary[]): string[] {
  return runs.map((run) => run.id);
}

describe("the approach of a run", () => {
  test.each([
    [["wide"], "selfplay", "wide"],
    [["wide", "old"], "selfplay", "selfplay"],
    [[], "selfplay", "selfplay"],
    [[], "", "ppo"],
  ])("with the tags %j and the variant %s is %s", (tags, variant, approach) => {
    expect(approachOf({ tags, variant, algo: "ppo" })).toBe(approach);
  });
});

describe("the choice", () => {
  test("is the environment of the newest run that has rows, with all of its runs", () => {
    const choice = choose();
    expect(choice.env).toBe("tag");
    expect(ids(choice.chosen)).toEqual(["b2", "a2", "a1"]);
    expect(choice.envs).toEqual([["tag", 3], ["CartPole-v1", 1]]);
    expect(choice.approaches).toEqual([["curriculum", 1], ["selfplay", 1], ["wide", 1]]);
  });

  test("has the runs of the chosen approaches, and of these the chosen runs", () => {
    expect(ids(choose({ approaches: ["selfplay", "wide"] }).chosen)).toEqual(["a2", "a1"]);
    expect(ids(choose({ approaches: ["selfplay", "wide"], runs: ["a1"] }).chosen)).toEqual(["a1"]);
    expect(ids(choose({ env: "CartPole-v1" }).chosen)).toEqual(["c1"]);
  });

  test("names what the environment does not have", () => {
    const choice = choose({ approaches: ["selfplay", "gone"], runs: ["c1"] });
    expect(choice.unknown).toEqual(["gone", "c1"]);
    expect(ids(choice.chosen)).toEqual(["a2"]);
  });

  test("has at most so many runs that they can be drawn, and counts the others", () => {
    const many = Array.from({ length: MAX_RUNS + 7 }, () => testRun({ clocks: STEPS }));
    const choice = chooseRuns(many, DEFAULT_VIEW);
    expect(ids(choice.chosen)).toEqual(ids(many.slice(0, MAX_RUNS)));
    expect(choice.leftOut).toBe(7);
    const oldest = many.at(-1)!.id;
    expect(chooseRuns(many, { ...DEFAULT_VIEW, runs: [oldest] })).toMatchObject({ leftOut: 0, chosen: [{ id: oldest }] });
  });

  test("names the runs that have no rows yet", () => {
    expect(ids(waitingRuns(RUNS, "tag"))).toEqual(["new"]);
    expect(waitingRuns(RUNS, "CartPole-v1")).toEqual([]);
  });
});

describe("the command", () => {
  test.each<[Partial<MonitorView>, string]>([
    [{}, "gymnast monitor"],
    [{ smooth: 1, skipBroken: true }, "gymnast monitor --smooth 1 --skip-broken"],
    [{ approaches: ["curriculum"] }, "gymnast monitor --approach curriculum"],
    // The tag `wide` and the variant `selfplay` name a1 both.
    [{ approaches: ["selfplay"] }, "gymnast monitor --run a2"],
    [{ runs: ["a1", "a2"] }, "gymnast monitor --approach selfplay --approach wide"],
    [{ env: "CartPole-v1" }, "gymnast monitor --env CartPole-v1"],
  ])("of %j is %s", (changes, command) => {
    const view = { ...DEFAULT_VIEW, ...changes };
    const trained = RUNS.filter((run) => run.id !== "new");
    expect(monitorCommand(trained, chooseRuns(trained, view), view)).toBe(command);
  });

  test("leaves out runs without rows", () => {
    expect(monitorCommand(RUNS, choose(), DEFAULT_VIEW)).toBe("gymnast monitor --run b2 --run a2 --run a1");
  });
});
