import { describe, expect, it } from "vitest";
import type { CommandAnswer } from "../../../api/types";
import { testScore } from "../../runs/testRuns";
import { availableActions, isLive, resumableSteps, type ActionContext } from "./actions";
import { answerText } from "./answers";
import { explainStatus } from "./states";
import { verdictOf } from "./verdict";

const STATUSES = ["queued", "starting", "running", "paused", "stalled", "finished", "stopped", "failed", "lost", "unreadable"];
const context = (status: string, more: Partial<ActionContext> = {}): ActionContext =>
  ({ status, reason: "", readOnly: false, checkpoints: [10, 20], ...more });
const enabled = (status: string, more: Partial<ActionContext> = {}) =>
  availableActions(context(status, more)).filter((action) => !action.disabled).map((action) => action.id);

describe("availableActions", () => {
  it.each([
    ["running", ["pause", "stop", "checkpoint", "evaluate", "set", "resume", "again"]],
    ["paused", ["unpause", "stop", "checkpoint", "evaluate", "set", "resume", "again"]],
    ["queued", ["stop", "again"]],
    ["finished", ["resume", "again"]],
    ["lost", ["resume", "again"]],
    ["unreadable", []],
  ])("of a run that is %s", (status, expected) => {
    expect(enabled(status)).toEqual(expected);
  });
  it("have a reason whenever they are disabled, in every status", () => {
    for (const status of STATUSES) {
      for (const action of availableActions(context(status, { reason: "why" }))) {
        expect(action.disabled === "" || action.disabled.endsWith(".")).toBe(true);
      }
    }
    const pause = availableActions(context("finished", { reason: "solved" }))[0]!;
    expect(pause.disabled).toContain("finished (solved)");
  });
  it("are all disabled in a read-only studio", () => {
    for (const status of STATUSES) expect(enabled(status, { readOnly: true })).toEqual([]);
  });
  it("allow only a branch from an earlier checkpoint while it trains", () => {
    expect(resumableSteps("running", [1, 2, 3])).toEqual([1, 2]);
    expect(resumableSteps("stopped", [1, 2, 3])).toEqual([1, 2, 3]);
    expect(enabled("running", { checkpoints: [1] })).not.toContain("resume");
  });
});

describe("explainStatus", () => {
  const facts = { id: "abc", reason: "", problem: "", path: "runs/abc", latestStep: 5 };
  it("says why a run ended", () => {
    for (const status of ["finished", "stopped", "failed"]) {
      expect(explainStatus({ ...facts, status, reason: "the budget was spent" }).text).toContain("the budget was spent");
    }
    expect(explainStatus({ ...facts, status: "unreadable", problem: "no run.json" }).text).toContain("no run.json");
  });
  it("does not repeat a word", () => {
    expect(explainStatus({ ...facts, status: "stopped", reason: "stopped by command" }).text).toBe("Stopped by command.");
    expect(explainStatus({ ...facts, status: "failed", reason: "no GPU." }).text).toBe("Failed: no GPU.");
  });
  it("names a command for every state that needs one", () => {
    for (const status of ["queued", "starting", "paused", "stalled", "stopped", "failed", "lost", "unreadable"]) {
      expect(explainStatus({ ...facts, status }).commands.length).toBeGreaterThan(0);
    }
    expect(explainStatus({ ...facts, status: "failed", latestStep: null }).commands).toEqual(["gymnast logs abc"]);
  });
  it("knows which statuses are live", () => {
    expect(STATUSES.filter(isLive)).toEqual(["queued", "starting", "running", "paused", "stalled"]);
  });
});

describe("answerText", () => {
  const answer: CommandAnswer = { id: "abc", command: "set", status: "running", answered: true, env_steps: 12288, changes: [], score: null, dequeued: false };
  it("names the change and its place", () => {
    const changes = [{ key: "algo.lr", before: "0.003 -> 0", after: 0.00001 }];
    expect(answerText({ ...answer, changes })).toBe("abc changed algo.lr from 0.003 -> 0 to 0.00001 at 12,288 env steps.");
    expect(answerText(answer)).toBe("abc already had these values.");
  });
  it("tells a late answer and a dequeued job apart", () => {
    expect(answerText({ ...answer, command: "pause", answered: false })).toContain("next rollout boundary");
    expect(answerText({ ...answer, command: "stop", dequeued: true })).toContain("queue");
  });
  it("has the score of an evaluation", () => {
    const score = { ...testScore(12.5), low: 11, high: 14 };
    expect(answerText({ ...answer, command: "evaluate", score })).toBe("abc evaluated its policy at 12,288 env steps: 12.5 [11.0, 14.0].");
  });
});

describe("verdictOf", () => {
  const score = { ...testScore(12), low: 11, high: 13 };
  it("follows the command line", () => {
    expect(verdictOf({ solved: null, score, threshold: null, confirmed: true, doubts: [] })).toBe("");
    expect(verdictOf({ solved: true, score, threshold: 10, confirmed: true, doubts: [] })).toBe("solved");
    expect(verdictOf({ solved: false, score, threshold: 10, confirmed: false, doubts: [] })).toBe("not confirmed");
    expect(verdictOf({ solved: false, score, threshold: 10, confirmed: true, doubts: [] })).toBe("doubtful");
    expect(verdictOf({ solved: null, score, threshold: null, confirmed: true, doubts: ["no spread"] })).toBe("doubtful");
    expect(verdictOf({ solved: false, score: { ...score, low: -Infinity }, threshold: 10, confirmed: false, doubts: [] })).toBe("not solved");
    expect(verdictOf({ solved: false, score: null, threshold: 10, confirmed: false, doubts: [] })).toBe("not solved");
  });
});
