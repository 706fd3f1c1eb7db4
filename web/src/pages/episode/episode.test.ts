import { afterEach, describe, expect, it, vi } from "vitest";
import { agentArguments, episodeArguments, episodePath, parseEpisode, parseOtherEpisode } from "./address";
import { joinedColumn, numbersOf, optionNames, withOptionNames } from "./columns";
import { cellText, percentText, rangeShare, signedText } from "./format";
import { restoredTable } from "./read";
import { episodeStore } from "./store";

describe("addresses of episodes", () => {
  it("name the episode that they were made for", () => {
    const address = { run: "k3jx81qa", kind: "eval", version: 20_480, number: 3 } as const;
    expect(episodePath(address)).toBe("/run/k3jx81qa/episodes/eval-20480-3");
    expect(parseEpisode("k3jx81qa", "eval-20480-3")).toEqual(address);
    expect(parseOtherEpisode("k3jx81qa/eval-20480-3")).toEqual(address);
    const named = { ref: "k3jx81qa", kind: "eval", version: 20_480, number: 3 };
    expect(agentArguments(address)).toEqual(named);
    expect(agentArguments({ ...address, role: "hider", seat: 1 })).toEqual({ ...named, role: "hider", seat: 1 });
    expect(episodeArguments({ ...address, role: "hider", seat: 1 })).toEqual(named);
  });
  it.each(["", "eval", "eval-1", "eval-1-x", "eval--1-2", "/eval-1-2", "other-1-2"])("%s names none", (text) => {
    expect(parseEpisode("run", text)).toBeNull();
    expect(parseOtherEpisode(text)).toBeNull();
  });
});

describe("tables", () => {
  it("get their numbers back, and texts stay texts", () => {
    const table = restoredTable({ a: [1, "nan", null], b: ["left", "nan"], c: [true, false], d: ["inf", "-inf"] });
    expect(table).toEqual({ a: [1, NaN, NaN], b: ["left", "nan"], c: [true, false], d: [Infinity, -Infinity] });
  });
  it("have plain arrays where the packed form has typed ones", () => {
    const packed = new Float64Array([1, NaN, Infinity]) as unknown as readonly number[];
    expect(restoredTable({ a: packed })).toStrictEqual({ a: [1, NaN, Infinity] });
  });
  it("are joined with a variation from its step on", () => {
    const variation = { step: 2, table: { step: [2, 3], value: [7, 8] } };
    expect(joinedColumn([1, 2, 3, 4, 5], "value", variation)).toEqual([1, 2, 7, 8]);
    expect(joinedColumn([1, 2, 3], "other", variation)).toEqual([1, 2, NaN, NaN]);
    expect(joinedColumn([1, 2, 3], "other", null)).toEqual([1, 2, 3]);
    expect(joinedColumn(undefined, "other", variation)).toBeUndefined();
  });
  it("are numbers unless there are texts", () => {
    expect([...(numbersOf([1, true, false]) ?? [])]).toEqual([1, 1, 0]);
    expect(numbersOf([1, "left"])).toBeUndefined();
  });

  it("has names for the options of elements that have them", () => {
    const actions = [
      { index: 0, name: "turn", options: ["left", "right"] },
      { index: 1, name: "dash", options: [] },
    ];
    expect(optionNames({ actions }, "action/turn")).toEqual(["left", "right"]);
    for (const column of ["action/dash", "obs/turn", "action"]) expect(optionNames({ actions }, column)).toEqual([]);
    expect(withOptionNames([1, 0, NaN, 5], ["left", "right"])).toEqual(["right", "left", NaN, 5]);
    expect(withOptionNames([1, 0], [])).toEqual([1, 0]);
    expect(withOptionNames(new Float64Array([0, 1]) as unknown as number[], ["left", "right"])).toEqual(["left", "right"]);
  });
});

describe("the store", () => {
  afterEach(() => vi.unstubAllGlobals());
  const frames: (() => void)[] = [];
  vi.stubGlobal("requestAnimationFrame", (run: () => void) => frames.push(run));
  vi.stubGlobal("cancelAnimationFrame", () => undefined);

  it("limits steps to the episode", () => {
    const store = episodeStore({ run: "a", kind: "eval", version: 1, number: 0 }, 12);
    expect(store.step.value).toBe(12); // the length is not known yet
    store.seek(-4);
    expect(store.step.value).toBe(0);
    store.seek(3.6);
    expect(store.step.value).toBe(4);
    expect(store.shown.value).toBe(12);
    expect(frames.length).toBe(1); // three moves are drawn once
    frames.pop()?.();
    expect(store.shown.value).toBe(4);
    store.seek(5);
    expect(frames.length).toBe(1);
  });
});

describe("numbers", () => {
  it.each([[0, "0"], [12, "12"], [0.1234, "0.123"], [-1234.5, "-1,234.500"], [1e-7, "1e-07"], [NaN, "-"], [true, "yes"], ["left", "left"], [null, "-"]])(
    "%s",
    (value, text) => expect(cellText(value)).toBe(text),
  );
  it("are shares in percent that never look certain if they are not", () => {
    expect([0, 0.0004, 0.004, 0.37, 0.9996, 1, NaN].map(percentText)).toEqual(["0%", "<0.1%", "0.4%", "37%", ">99.9%", "100%", "-"]);
  });
  it("have a sign where it matters", () => expect([1.5, -1.5, 0].map(signedText)).toEqual(["+1.500", "-1.500", "0"]));
  it("have a place only in finite ranges", () => {
    expect(rangeShare(5, 0, 10)).toBe(0.5);
    expect(rangeShare(50, 0, 10)).toBe(1);
    expect(rangeShare(5, null, 10)).toBeNull();
    expect(rangeShare(5, -Infinity, Infinity)).toBeNull();
    expect(rangeShare(NaN, 0, 1)).toBeNull();
  });
});
