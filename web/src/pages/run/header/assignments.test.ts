import { expect, it } from "vitest";
import { changedAssignments, parseLines, resumeOverrides } from "./assignments";

it("reads settings as they are copied from a command", () => {
  expect(parseLines("algo.lr = 1e-4\n\n --set 'algo.clip=0.1 -> 0'\nnonsense\n=5")).toEqual({
    assignments: ["algo.lr=1e-4", "algo.clip=0.1 -> 0"], wrong: ["nonsense", "=5"],
  });
});
it("sends only settings that have a new value", () => {
  expect(changedAssignments(new Map([["a", " 1 "], ["b", ""], ["c", "x"]]))).toEqual(["a=1", "c=x"]);
});
it("adds the budget", () => {
  expect(resumeOverrides("algo.lr=1", " 200k ")).toEqual(["stop.env_steps=200k", "algo.lr=1"]);
  expect(resumeOverrides("", "")).toEqual([]);
});
