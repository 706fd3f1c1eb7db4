import { describe, expect, test } from "vitest";
import { mergeSides, selectSides, withoutSide, type ListedRun } from "./sides";

function run(id: string, group: string | null, seed: number, preset = "CartPole-v1:ppo"): ListedRun {
  return { id, name: group ? `${group}-s${seed}` : "", preset, seed, group, status: "finished" };
}

const RUNS = [
  run("zz1", null, 1, "LunarLander-v3:ppo"),
  run("aa1", "base", 1),
  run("aa0", "base", 0),
  run("bb0", "fast", 0, "CartPole-v1:fast"),
  run("bb1", "fast", 1, "CartPole-v1:fast"),
  run("cc0", "alone", 0),
];

const brief = (refs: string[], grouping: "seed" | "variant" | "none" = "seed") =>
  selectSides(refs, RUNS, grouping).sides.map((side) => [side.kind, side.ref, side.runs.join(" ")]);

describe("sides from references", () => {
  test("a group of seeds is one side, its runs ordered by seed", () => {
    expect(brief(["base", "zz1"])).toEqual([
      ["group", "base", "aa0 aa1"],
      ["run", "zz1", "zz1"],
    ]);
  });

  test("all runs of a group become the group, a part of them a set", () => {
    expect(brief(["aa1", "bb0", "aa0"])).toEqual([
      ["group", "base", "aa0 aa1"],
      ["run", "bb0", "bb0"],
    ]);
    const three = [...RUNS, run("aa2", "base", 2)];
    expect(selectSides(["aa0", "aa2", "zz1"], three, "seed").sides[0]).toEqual(
      { ref: "aa0+aa2", label: "base (2 seeds)", runs: ["aa0", "aa2"], kind: "set" },
    );
  });

  test("runs of one group that are named one by one are compared with each other", () => {
    expect(brief(["aa1", "aa0"]).map(([, ref]) => ref)).toEqual(["aa1", "aa0"]);
    expect(brief(["base"]).map(([, ref]) => ref)).toEqual(["base"]);
  });

  test("without grouping every run is alone", () => {
    expect(brief(["base", "fast"], "none").map(([kind, ref]) => [kind, ref])).toEqual([
      ["run", "aa1"],
      ["run", "aa0"],
      ["run", "bb0"],
      ["run", "bb1"],
    ]);
  });

  test("by variant, groups with the same preset come together", () => {
    expect(brief(["base", "cc0", "bb1"], "variant")).toEqual([
      ["set", "aa0+cc0+aa1", "aa0 cc0 aa1"],
      ["run", "bb1", "bb1"],
    ]);
  });

  test("ad-hoc groups stay together whatever the grouping", () => {
    for (const grouping of ["seed", "variant", "none"] as const)
      expect(brief(["aa0+bb0", "zz1"], grouping)[0]).toEqual(["set", "aa0+bb0", "aa0 bb0"]);
    expect(brief(["aa0 bb0"])).toEqual([["set", "aa0+bb0", "aa0 bb0"]]);
  });

  test("a run is in one side only, and a group with one run is that run", () => {
    expect(brief(["aa0+bb0", "base", "aa0"])).toEqual([
      ["set", "aa0+bb0", "aa0 bb0"],
      ["run", "aa1", "aa1"],
    ]);
    expect(brief(["alone"])).toEqual([["run", "cc0", "cc0"]]);
  });

  test("references are ids, names and beginnings of ids; the others are reported", () => {
    expect(brief(["base-s1", "zz", "@last"])).toEqual([
      ["run", "aa1", "aa1"],
      ["run", "zz1", "zz1"],
    ]);
    expect(selectSides(["aa", "nobody", "aa0+nobody", "zz1"], RUNS, "seed").unknown).toEqual([
      "aa",
      "nobody",
      "aa0+nobody",
    ]);
  });

  test("the references of sides mean the same sides again", () => {
    for (const grouping of ["seed", "variant", "none"] as const) {
      const { sides } = selectSides(["aa0+bb0", "base", "fast", "zz1", "cc0"], RUNS, grouping);
      expect(selectSides(sides.map((side) => side.ref), RUNS, grouping).sides).toEqual(sides);
    }
  });
});

describe("changing the selection", () => {
  const { sides } = selectSides(["base", "fast", "zz1"], RUNS, "seed");

  test("merging puts the runs of several sides into one, at the place of the first", () => {
    expect(mergeSides(sides, [sides[1]!, sides[2]!])).toEqual(["base", "bb0+bb1+zz1"]);
    expect(mergeSides(sides, [sides[2]!, sides[0]!])).toEqual(["zz1+aa0+aa1", "fast"]);
  });

  test("a side is removed, or split into its runs", () => {
    expect(withoutSide(sides, sides[0]!)).toEqual(["fast", "zz1"]);
    expect(withoutSide(sides, sides[1]!, true)).toEqual(["base", "bb0", "bb1", "zz1"]);
  });
});
