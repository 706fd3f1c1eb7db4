import { expect, test } from "vitest";
import type { PresetSummary } from "../../api/types";
import { chosenPreset, presetFamilies, targetOf } from "./presetList";

const preset = (name: string, family: string, variants: string[]): PresetSummary => ({
  name,
  path: "",
  shipped: true,
  problem: "",
  family,
  default: variants[0] ?? "",
  variants,
  threshold: null,
  optimum: null,
  source: "",
  published: null,
  results: {},
});
const presets = [
  preset("CartPole-v1", "Classic control", ["ppo", "dqn"]),
  preset("Acrobot-v1", "Classic control", ["ppo"]),
  preset("py:mine:Env", "Yours", ["ppo"]),
  preset("py:mine", "Yours", ["a2c"]),
];

test("every preset is in its family, and all words must match", () => {
  const names = (search: string): string[][] =>
    presetFamilies(presets, search).map((family) => family.presets.map((found) => found.name));
  expect(names("")).toEqual([["CartPole-v1", "Acrobot-v1"], ["py:mine:Env", "py:mine"]]);
  expect(names("classic DQN")).toEqual([["CartPole-v1"]]);
  expect(names("classic mine")).toEqual([]);
});

test("a target names a preset and a variant, and back", () => {
  for (const each of presets)
    for (const variant of each.variants)
      expect(chosenPreset(targetOf(each, variant), presets)).toEqual({ preset: each, variant });
  expect(chosenPreset("CartPole-v10", presets)).toBeNull();
  expect(chosenPreset("", presets)).toBeNull();
});
