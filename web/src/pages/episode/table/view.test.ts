import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { cellText } from "../format";
import type { Cell, ColumnInfo } from "../types";
import { placedColumns, readingOrder, ROW_HEIGHT, rowOf, scrolledTo, shownSteps, visibleColumns } from "./view";

const column = (name: string, group: ColumnInfo["group"] = "value"): ColumnInfo => ({ name, label: name, unit: "", doc: "", group });

describe("rows", () => {
  const values: Cell[] = [3, NaN, 1, true, 2];
  const lookup = () => values;

  it("are filtered, then sorted; missing values are last", () => {
    expect([...shownSteps(5, null, undefined, lookup)]).toEqual([0, 1, 2, 3, 4]);
    expect([...shownSteps(5, (step) => step !== 2, { key: "v", descending: false }, lookup)]).toEqual([3, 4, 0, 1]);
    expect([...shownSteps(5, null, { key: "v", descending: true }, lookup)]).toEqual([0, 4, 2, 3, 1]);
  });

  it("of a step are found in both orders", () => {
    const steps = Int32Array.of(2, 5, 9);
    expect(rowOf(steps, 5, false)).toEqual({ row: 1, isThere: true });
    expect(rowOf(steps, 6, false)).toEqual({ row: 2, isThere: false });
    expect(rowOf(steps, 99, false)).toEqual({ row: 2, isThere: false });
    expect(rowOf(Int32Array.of(9, 2, 5), 5, true)).toEqual({ row: 2, isThere: true });
    expect(rowOf(Int32Array.of(), 5, false)).toEqual({ row: 0, isThere: false });
  });

  it("are brought into view, without moving those that are", () => {
    const view = 10 * ROW_HEIGHT;
    for (const [row, top] of [[0, 500], [80, 0], [99, 0], [50, 5000]] as const) {
      const next = scrolledTo(row, top, view, 100);
      expect(next).toBeLessThanOrEqual(row * ROW_HEIGHT);
      expect(next + view).toBeGreaterThanOrEqual((row + 1) * ROW_HEIGHT);
      expect(scrolledTo(row, next, view, 100)).toBe(next);
    }
    expect(scrolledTo(3, 0, view, 100)).toBe(0);
    expect(scrolledTo(3, 0, view, 4)).toBe(0);
  });
});

describe("columns", () => {
  it("are next to each other, and wide enough for every number", () => {
    const table: Record<string, Cell[]> = { step: [0, 1], reward_raw: Array.from({ length: 900 }, (_, i) => (i === 777 ? -123_456.789 : 0)), action: ["left", "right"] };
    const placed = placedColumns(Object.keys(table).map((name) => column(name)), (name) => table[name], cellText);
    placed.reduce((left, one) => (expect(one.left).toBe(left), left + one.width), 0);
    expect(placed[1]!.width).toBeGreaterThan(cellText(-123_456.789).length * 6.5);
    expect(placed.map(({ isText }) => isText)).toEqual([false, false, true]);
  });

  it("are drawn if any part of them is in view", () => {
    const placed = [0, 100, 200, 300].map((left) => ({ column: column(String(left)), left, width: 100, isText: false }));
    expect(visibleColumns(placed, 150, 100, 0).map(({ left }) => left)).toEqual([100, 200]);
    expect(visibleColumns(placed, 0, 50, 120).map(({ left }) => left)).toEqual([0, 100]);
  });

  it("begin with the step, the action and what it gave", () => {
    const columns = [column("obs/x", "observation"), column("terminated", "end"), column("step", "end"), column("value_raw"), column("action", "action")];
    expect(readingOrder(columns).map(({ name }) => name)).toEqual(["step", "action", "value_raw", "obs/x", "terminated"]);
  });
});

describe("the choice of columns", () => {
  const stored = new Map<string, string>();
  beforeEach(() => {
    stored.clear();
    vi.resetModules();
    vi.stubGlobal("localStorage", { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value) });
  });
  afterEach(() => vi.unstubAllGlobals());
  const columns = ["step", "obs/x", "input/x", "mask/left", "reward_raw"].map((name) => column(name));

  it("is kept by environment, in later visits too", async () => {
    const first = await import("./storedColumns");
    expect(first.chosenColumns("A", columns)).toEqual(["step", "obs/x", "reward_raw"]);
    first.storeColumns("A", ["step", "input/x"]);
    vi.resetModules();
    const later = await import("./storedColumns");
    expect(later.chosenColumns("A", columns)).toEqual(["step", "input/x"]);
    expect(later.chosenColumns("B", columns)).toEqual(["step", "obs/x", "reward_raw"]);
    later.storeColumns("A", null);
    expect(later.chosenColumns("A", columns)).toEqual(["step", "obs/x", "reward_raw"]);
  });

  it("ignores columns that the episode does not have, and what is not readable", async () => {
    stored.set("gymnast.episode.columns", '{"A": ["gone"]}');
    const { chosenColumns } = await import("./storedColumns");
    expect(chosenColumns("A", columns)).toEqual(["step", "obs/x", "reward_raw"]);
    stored.set("gymnast.episode.columns", "[1, 2");
    vi.resetModules();
    expect((await import("./storedColumns")).chosenColumns("A", columns)).toEqual(["step", "obs/x", "reward_raw"]);
  });

  it("shows only some of very many components at first", async () => {
    const { defaultColumns } = await import("./storedColumns");
    const many = Array.from({ length: 100 }, (_, i) => column(`obs/${i}`));
    expect(defaultColumns([column("step"), ...many]).length).toBe(13);
  });
});
