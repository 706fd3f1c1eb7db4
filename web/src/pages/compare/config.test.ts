import { describe, expect, test } from "vitest";
import type { Comparison } from "../../api/types";
import { configBySide, configCsv } from "./config";
import type { Side } from "./sides";

const side = (ref: string): Side => ({ ref, label: `name of ${ref}`, runs: [ref], kind: "run" });
const SIDES = [side("base"), side("fast"), side("new")];

describe("settings that differ", () => {
  test("are in the order of the page, whatever the order of the request", () => {
    const comparison = {
      groups: [{ name: "fast" }, { name: "base" }],
      runs: [],
      config: [{ key: "algo.lr", values: [0.003, "0.001 -> 0"] }, { key: "env.frame_stack", values: [null, 0] }],
    } as unknown as Comparison;
    const config = configBySide(comparison, SIDES);
    expect(config.sides.map((one) => one.ref)).toEqual(["base", "fast"]);
    expect(config.settings).toEqual([
      { key: "algo.lr", values: ["0.001 -> 0", 0.003] },
      { key: "env.frame_stack", values: [0, null] },
    ]);
    expect(configCsv(config)).toBe("setting,name of base,name of fast\nalgo.lr,0.001 -> 0,0.003\nenv.frame_stack,0,none\n");
  });

  test("are separate from facts about the environments", () => {
    const comparison = {
      groups: [{ name: "base" }],
      runs: [],
      config: [{ key: "facts.reward", values: ["[0, 1]"] }, { key: "env.id", values: ["Taxi-v3"] }],
    } as unknown as Comparison;
    const config = configBySide(comparison, SIDES);
    expect(config.settings.map((row) => row.key)).toEqual(["env.id"]);
    expect(config.facts.map((row) => row.key)).toEqual(["facts.reward"]);
    expect(configCsv(config)).toContain("facts.reward");
  });

  test("have one column per run if no side is a group", () => {
    const comparison = { groups: [], runs: [{ id: "new" }, { id: "base" }], config: [{ key: "seed", values: [1, 2] }] } as unknown as Comparison;
    expect(configBySide(comparison, SIDES).settings).toEqual([{ key: "seed", values: [2, 1] }]);
  });
});
