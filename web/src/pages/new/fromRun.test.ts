import { expect, test } from "vitest";
import { chosenAlgorithm, draftOfRun, settingAt } from "./fromRun";
import { testField, testSection } from "./testForm";

const preset = [
  testSection("", testField("seed", 0)),
  testSection("algo", testField("algo.name", "ppo"), testField("algo.lr", 0.0003), testField("algo.clip", 0.2)),
  testSection("env", testField("env.id", "CartPole-v1"), testField("env.n_envs", 8), testField("env.kwargs", { gravity: -10 }), testField("env.kwargs.gravity", -10)),
  testSection("policy", testField("policy.hidden", [64, 64]), testField("policy.new", 1)),
];
const run = {
  preset: "CartPole-v1:ppo",
  seed: 3,
  tags: ["a", "b"],
  config: {
    seed: 3,
    algo: { name: "dqn", lr: "3e-3 -> 0", clip: 0.2 },
    env: { id: "CartPole-v1", n_envs: 16, kwargs: { gravity: -9 } },
    policy: { hidden: [32] },
  },
  provenance: { "algo.lr": "--set", "env.n_envs": "default for its spaces", "algo.name": "--algo" },
};

test("training again sets what differs from the preset, as text of --set", () => {
  const draft = draftOfRun(run, preset);
  expect([...draft.changes]).toEqual([
    ["algo.lr", "3e-3 -> 0"],
    ["env.kwargs", "{gravity: -9}"],
    ["policy.hidden", "[32]"],
  ]);
  expect(draft).toMatchObject({ target: "CartPole-v1:ppo", seed: "3", tags: "a b", name: "", algo: "dqn" });
});

test("only an algorithm that was chosen by the user is chosen again", () => {
  expect(chosenAlgorithm(run)).toBe("dqn");
  expect(chosenAlgorithm({ ...run, provenance: { "algo.name": "variant ppo" } })).toBe("");
});

test("settings are found by their dotted key", () => {
  expect(settingAt(run.config, "env.kwargs.gravity")).toBe(-9);
  expect(settingAt(run.config, "env.kwargs.nothing")).toBeUndefined();
  expect(settingAt(run.config, "policy.hidden.0")).toBeUndefined();
});
