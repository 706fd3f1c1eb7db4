import { describe, expect, it } from "vitest";
import type { ColumnInfo, EpisodeInspection, StepTable } from "../types";
import { numbersOf } from "../columns";
import { cardModel, isTaken } from "./card";

const GROUPS: [RegExp, ColumnInfo["group"]][] = [
  [/^(obs|info)/, "observation"],
  [/^input/, "input"],
  [/^(action|greedy)/, "action"],
  [/^(p|q|mean|std|mask)\/|^(logprob|entropy)$/, "policy"],
  [/^(reward|shaping|return_to)/, "reward"],
  [/^(value|return|advantage|td)/, "value"],
  [/./, "end"],
];

function inspectionOf(table: StepTable, observations: EpisodeInspection["observations"] = []): EpisodeInspection {
  const columns = Object.keys(table).map((name) => ({
    name,
    label: name.slice(name.indexOf("/") + 1),
    unit: "",
    doc: "",
    group: GROUPS.find(([pattern]) => pattern.test(name))![1],
  }));
  return { columns, table, observations, actions: [] } as unknown as EpisodeInspection;
}

const model = (table: StepTable, observations?: EpisodeInspection["observations"]) =>
  cardModel(inspectionOf(table, observations), (name) => numbersOf(table[name]));

describe("the card of a step", () => {
  it("has the options of a Discrete action, with masks, and marks the one that was taken", () => {
    const { options, amounts, actions } = model({ action: ["left"], "p/left": [0.7], "p/right": [0.3], "mask/left": [true] });
    expect(options.map(({ label, mask, taken }) => [label, mask, taken])).toEqual([
      ["left", "mask/left", "action"],
      ["right", undefined, "action"],
    ]);
    expect(options.map((option) => isTaken(option, "left"))).toEqual([true, false]);
    expect(options.map((option) => isTaken(option, undefined))).toEqual([false, false]);
    expect([amounts, actions]).toEqual([[], []]);
  });

  it("has the options of every element of an action, which are numbers", () => {
    const table = { "action/turn": [2], "action/dash": [0], "p/turn.0": [0.1], "p/turn.1": [0.2], "p/turn.2": [0.7], "p/dash.0": [0.9], "p/dash.1": [0.1] };
    const { options, amounts, actions } = model(table);
    const taken = options.filter((option) => isTaken(option, table[option.taken as keyof typeof table][0]));
    expect(taken.map(({ label }) => label)).toEqual(["turn 2", "dash 0"]);
    expect([amounts, actions]).toEqual([[], []]);
  });

  it("names the options of elements whose options have names", () => {
    const table = { "action/turn": [1], "p/turn.left": [0.1], "p/turn.right": [0.9], "mask/turn.left": [true] };
    const { options } = model(table);
    expect(options.map(({ label, mask }) => [label, mask])).toEqual([
      ["turn left", "mask/turn.left"],
      ["turn right", undefined],
    ]);
    expect(options.map((option) => isTaken(option, 1))).toEqual([false, true]);
  });

  it("has the elements of a continuous action with their means", () => {
    const { options, amounts } = model({ "action/torque": [-1, 2], "mean/torque": [0, 1], "action/brake": [0.5, 0.5] });
    expect(options).toEqual([]);
    expect(amounts.map(({ column, mean, low, high }) => [column, mean, low, high])).toEqual([
      ["action/torque", "mean/torque", -1, 2],
      ["action/brake", undefined, 0.5, 0.5],
    ]);
  });

  it("takes the range of a component from the space, else from the episode", () => {
    const declared = { column: "obs/x", name: "x", low: -4.8, high: 4.8, unit: "m", doc: "" };
    const unbounded = { column: "obs/v", name: "v", low: null, high: null, unit: "m/s", doc: "" };
    const { observations, other } = model({ "obs/x": [0, 1], "obs/v": [3, -2], "info/lives": [3, 3] }, [declared, unbounded]);
    expect(observations.map(({ low, high, isDeclared, unit }) => [low, high, isDeclared, unit])).toEqual([
      [-4.8, 4.8, true, "m"],
      [-2, 3, false, "m/s"],
    ]);
    expect(other.map(({ name }) => name)).toEqual(["info/lives"]);
  });

  it("leaves out learned values only if they are the raw ones", () => {
    const names = (table: StepTable) => model(table).values.map(({ name }) => name);
    expect(names({ value_raw: [1, 2], value_learned: [1, 2] })).toEqual(["value_raw"]);
    expect(names({ value_raw: [1, 2], value_learned: [1, 2.5] })).toEqual(["value_raw", "value_learned"]);
    expect(names({ value_learned: [1], advantage_learned: [2] })).toEqual(["value_learned", "advantage_learned"]);
  });
});
