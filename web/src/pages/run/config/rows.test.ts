import { describe, expect, it } from "vitest";
import type { Settings } from "../../../api/types";
import { plainValue, yamlValue } from "../parts/text";
import { asOverrides, asYaml, configRows } from "./rows";

const settings: Settings = {
  name: "run x", config: {},
  values: { seed: 1, "env.id": "LunarLander-v3", "env.noise.obs": 0, "env.noise.drop": null, "env.n_envs": 16, "algo.lr": "0.003 -> 0", "policy.hidden": [64, 64] },
  provenance: { seed: "--set", "env.id": "name", "env.noise.obs": "default", "env.n_envs": "variant ppo, LunarLander-v3.yaml:39", "algo.lr": "live change at 12,288 env steps" },
};
const none = { text: "", onlyChanged: false, differences: undefined };

describe("configRows", () => {
  it("has every setting with its origin", () => {
    const rows = configRows(settings, none);
    expect(rows.map((row) => row.key)).toEqual(Object.keys(settings.values));
    expect(rows.find((row) => row.key === "policy.hidden")).toMatchObject({ origin: "default", changed: false, section: "policy" });
    expect(rows[0]!.section).toBe("run");
  });
  it("filters by words in key, value and origin, and by change", () => {
    expect(configRows(settings, { ...none, text: "ppo n_" }).map((row) => row.key)).toEqual(["env.n_envs"]);
    expect(configRows(settings, { ...none, onlyChanged: true }).map((row) => row.key)).toEqual(["seed", "env.id", "env.n_envs", "algo.lr"]);
  });
  it("shows only differences in a comparison, also of settings that only the other side has", () => {
    const differences = [{ key: "seed", a: 1, b: 0 }, { key: "algo.clip", a: null, b: 0.2 }];
    expect(configRows(settings, { ...none, differences }).map((row) => [row.key, row.value, row.other?.value])).toEqual(
      [["seed", 1, 0], ["algo.clip", undefined, 0.2]]);
    expect(configRows(settings, { ...none, differences: [] })).toEqual([]);
  });
});

describe("copies", () => {
  it("are nested YAML", () => {
    expect(asYaml(configRows(settings, none))).toBe(
      "seed: 1\nenv:\n  id: LunarLander-v3\n  noise:\n    obs: 0\n    drop: off\n  n_envs: 16\nalgo:\n  lr: 0.003 -> 0\npolicy:\n  hidden: [64, 64]\n");
  });
  it("are options for a shell", () => {
    expect(asOverrides([{ key: "algo.lr", value: "0.003 -> 0" }, { key: "seed", value: 1 }])).toBe("--set 'algo.lr=0.003 -> 0' --set seed=1");
  });
  it.each([[0.00001, "0.00001"], [1e-7, "1e-7"], [true, "true"], [null, "off"], ["5", '"5"'], ["a: b", '"a: b"'], [["a", 1], "[a, 1]"], [{ "algo.lr": "x0.5" }, "{algo.lr: x0.5}"]])(
    "write %s as YAML %s", (value, text) => expect(yamlValue(value)).toBe(text));
  it("show texts as they are", () => expect(plainValue("5")).toBe("5"));
});
