import { describe, expect, it } from "vitest";
import type { Cell } from "../types";
import { completed, completions, type KnownColumn } from "./completion";
import { FilterError, parseFilter } from "./filter";
import { resolveColumn, similarName } from "./names";

const TABLE: Record<string, Cell[]> = {
  step: [0, 1, 2, 3, 4],
  action: ["left", "right", "left", "main engine", "left"],
  advantage_learned: [-2, -0.5, 0, 3, NaN],
  reward_raw: [1, 1, -1, 0, 10],
  reward_learned: [0.1, 0.1, -0.1, 0, 1],
  "obs/angle": [0, 0.1, 0.2, 0.3, 0.4],
  "obs/left": [1, 2, 3, 4, 5],
  "input/angle": [5, 4, 3, 2, 1],
  "obs/pole speed": [1, 2, 3, 4, 5],
  greedy: [true, false, true, false, true],
};
const NAMES = Object.keys(TABLE);

function rows(filter: string): number[] {
  const test = parseFilter(filter, NAMES, (name) => TABLE[name]);
  return TABLE["step"]!.map(Number).filter((row) => test === null || test(row));
}

function failure(filter: string): FilterError {
  try {
    parseFilter(filter, NAMES, (name) => TABLE[name]);
  } catch (error) {
    if (error instanceof FilterError) return error;
  }
  throw new Error(`${filter} is accepted`);
}

describe("filters", () => {
  it.each<[string, number[]]>([
    ["", [0, 1, 2, 3, 4]],
    ["advantage < -1", [0]],
    ["advantage<-1", [0]],
    ["advantage_learned >= 0", [2, 3]],
    ["abs(advantage) > 1", [0, 3]],
    ["action = left and reward > 0", [0, 4]],
    ["action = LEFT", [0, 2, 4]],
    ['action = "main engine"', [3]],
    ["action = main engine", [3]],
    ["(action = main engine) or action = right and step < 2", [1, 3]],
    ["action ~ engine", [3]],
    ["action != left", [1, 3]],
    ["greedy", [0, 2, 4]],
    ["not greedy", [1, 3]],
    ["greedy = false", [1, 3]],
    ["not (greedy or step > 2)", [1]],
    ["step < 1 or step > 3 and greedy", [0, 4]],
    ["(step < 1 or step > 3) and not greedy", []],
    ["obs/angle > input/angle", []],
    ["obs/angle >= .3", [3, 4]],
    ['"obs/pole speed" >= 4', [3, 4]],
    ["step == 2", [2]],
    ["obs/left > 1e0 AND step<=2", [1, 2]],
  ])("%s", (filter, expected) => expect(rows(filter)).toEqual(expected));

  it("compares missing numbers with nothing", () => {
    expect(rows("advantage = 0 or advantage < 0 or advantage > 0")).not.toContain(4);
  });

  it.each<[string, RegExp, number]>([
    ["advantge < 1", /no column advantge/, 0],
    ["angle > 0", /angle could be obs\/angle or input\/angle/, 0],
    ["step <", /missing at the end/, 6],
    ["step < 1 reward > 2", /follows a complete condition/, 9],
    ["(step < 1", /closing parenthesis/, 9],
    ['action = "left', /closing quote/, 9],
    ["step < left2", /needs a number/, 7],
    ["step < 3 & greedy", /"&"/, 9],
    ["3", /compared with nothing/, 0],
    ["step < )", /expected/, 7],
  ])("%s is refused", (filter, message, at) => {
    const error = failure(filter);
    expect(error.message).toMatch(message);
    expect(error.at).toBe(at);
  });

  it("suggests the column that was meant", () => {
    expect(failure("advantge < 1").fix).toContain("advantage_learned");
    expect(similarName("reword", NAMES)).toBe("reward_raw");
    expect(similarName("zzzzzz", NAMES)).toBeUndefined();
  });

  it("prefers names in this order: whole, raw, learned, last part", () => {
    expect(resolveColumn("reward", NAMES)).toBe("reward_raw");
    expect(resolveColumn("left", NAMES)).toBe("obs/left");
    expect(resolveColumn("angle", NAMES)).toEqual(["obs/angle", "input/angle"]);
    expect(resolveColumn("nothing", NAMES)).toEqual([]);
  });
});

const COLUMNS: KnownColumn[] = NAMES.map((name) => ({ name, detail: "", values: TABLE[name]! }));
const texts = (filter: string, cursor = filter.length) => completions(filter, cursor, COLUMNS).entries.map(({ text }) => text);

describe("completion", () => {
  it("offers columns, operators, values and joins in turn", () => {
    expect(texts("")).toContain("advantage_learned");
    expect(texts("adv")).toEqual(["advantage_learned"]);
    expect(texts("learned")).toEqual(["advantage_learned", "reward_learned"]);
    expect(texts("advantage ")).toContain("<=");
    expect(texts("action ")).toEqual(["!=", "=", "~"]);
    expect(texts("action = ")).toEqual(["left", "right", '"main engine"']);
    expect(texts("action = le")).toEqual(["left"]);
    expect(texts("action = left ")).toEqual(["and", "or"]);
    expect(texts("greedy ")).toEqual(["and", "or"]);
    expect(texts("action = left and r")).toEqual(["reward_raw", "reward_learned"]);
  });
  it("replaces the word at the cursor, and every offer makes the filter valid as far as it goes", () => {
    const filter = "action = le and greedy";
    const found = completions(filter, 11, COLUMNS);
    const next = completed(filter, found, found.entries[0]!);
    expect(next.filter).toBe("action = left and greedy");
    expect(next.filter.slice(0, next.cursor)).toBe("action = left ");
    for (const entry of completions("", 0, COLUMNS).entries.filter(({ text }) => text !== "not")) {
      expect(() => parseFilter(completed("", { start: 0, end: 0, entries: [] }, entry).filter + "= 0", NAMES, (name) => TABLE[name])).not.toThrow();
    }
  });
});
