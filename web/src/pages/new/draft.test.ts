import { expect, test } from "vitest";
import { draftPath, draftProblems, EMPTY_DRAFT, parseDraft, startArguments, trainCommand, withChange, type Draft } from "./draft";

const draft: Draft = {
  target: "LunarLander-v3:ppo",
  algo: "a2c",
  changes: new Map([
    ["algo.lr", "3e-4 -> 0"],
    ["env.kwargs", "{a: 1, b: 'x=y&z'}"],
  ]),
  seed: "0",
  seeds: "5",
  name: "try 1",
  tags: "a, b a",
  source: "@best:120k",
};

test("an address describes the whole draft", () => {
  const params = (path: string): URLSearchParams => new URL(path, "http://x").searchParams;
  expect(parseDraft(params(draftPath(draft)))).toEqual(draft);
  expect(parseDraft(params(draftPath(EMPTY_DRAFT)))).toEqual(EMPTY_DRAFT);
  expect(draftPath(EMPTY_DRAFT)).toBe("/new");
});

test("the arguments have what is filled in, and seed 0 is a seed", () => {
  expect(startArguments(draft)).toEqual({
    target: "LunarLander-v3:ppo",
    overrides: ["algo.lr=3e-4 -> 0", "env.kwargs={a: 1, b: 'x=y&z'}"],
    algo: "a2c",
    seed: 0,
    seeds: 5,
    source: "@best:120k",
    name: "try 1",
    tags: ["a", "b"],
  });
  expect(startArguments({ ...EMPTY_DRAFT, target: "CartPole-v1" })).toEqual({ target: "CartPole-v1" });
});

test("the command says the same as the arguments", () => {
  expect(trainCommand(draft)).toBe(
    "gymnast train LunarLander-v3:ppo --algo a2c --set 'algo.lr=3e-4 -> 0' " +
      `--set 'env.kwargs={a: 1, b: '\\''x=y&z'\\''}' --seed 0 --seeds 5 --from @best:120k ` +
      "--name 'try 1' --tag a --tag b --detach",
  );
  expect(trainCommand({ ...EMPTY_DRAFT, target: "CartPole-v1" })).toBe("gymnast train CartPole-v1 --detach");
});

test("a change can be taken back", () => {
  const changed = withChange(EMPTY_DRAFT, "algo.lr", "1e-3");
  expect(changed.changes.get("algo.lr")).toBe("1e-3");
  expect(withChange(changed, "algo.lr", null).changes.size).toBe(0);
  expect(EMPTY_DRAFT.changes.size).toBe(0);
});

test("numbers of seeds and the target are checked", () => {
  expect(draftProblems(draft)).toEqual([]);
  const wrong = { ...draft, target: " ", seed: "-1", seeds: "0" };
  expect(draftProblems(wrong).map((problem) => problem.field)).toEqual(["target", "seed", "seeds"]);
});
