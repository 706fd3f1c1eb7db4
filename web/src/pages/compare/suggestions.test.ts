import { describe, expect, test } from "vitest";
import { suggestions } from "./suggestions";

const run = (id: string, group: string | null, seed: number, status = "finished") => ({
  id,
  name: group ? `${group}-s${seed}` : "",
  preset: "CartPole-v1:ppo",
  seed,
  group,
  status,
  tags: id === "k1" ? ["paper"] : [],
});
const RUNS = [run("a0", "base", 0), run("a1", "base", 1), run("k1", null, 7), run("x9", null, 0, "unreadable")];
const refs = (search: string, chosen: string[] = []) => suggestions(search, RUNS, new Set(chosen)).map((entry) => entry.ref);

describe("what can be added", () => {
  test("are groups first, then runs that can be read", () => {
    expect(refs("")).toEqual(["base", "a0", "a1", "k1"]);
  });

  test("is found by name, id, preset and tag", () => {
    expect(refs("base-s1")[0]).toBe("a1");
    expect(refs("paper")[0]).toBe("k1");
    expect(refs("k1")[0]).toBe("k1");
    expect(refs("group")).toContain("base");
    expect(refs("zzz")).toEqual([]);
  });

  test("is not in the comparison already", () => {
    expect(refs("", ["a0", "k1"])).toEqual(["a1"]); // one seed is left, which is no group
  });
});
