import { expect, test } from "vitest";
import { keepExisting, NOTHING_SELECTED, selectRange, toggle, toggleAll } from "./selection";

const order = ["a", "b", "c", "d", "e"];
const ids = (selection: { ids: ReadonlySet<string> }): string => [...selection.ids].sort().join("");

test("shift selects everything between the last selected row and this one, in both directions", () => {
  const one = toggle(NOTHING_SELECTED, "d");
  expect(ids(selectRange(one, "b", order))).toBe("bcd");
  expect(ids(selectRange(one, "e", order))).toBe("de");
  expect(ids(selectRange(selectRange(one, "e", order), "c", order))).toBe("cde");
});

test("without a row to start from, shift selects one row", () => {
  expect(ids(selectRange(NOTHING_SELECTED, "b", order))).toBe("b");
  const gone = toggle(NOTHING_SELECTED, "z");
  expect(ids(selectRange(gone, "b", order))).toBe("bz");
});

test("toggle twice is nothing, and does not change its argument", () => {
  const one = toggle(NOTHING_SELECTED, "a");
  expect(ids(toggle(one, "a"))).toBe("");
  expect(ids(one)).toBe("a");
  expect(ids(NOTHING_SELECTED)).toBe("");
});

test("all of a group, then none of it; other rows stay", () => {
  const some = toggle(toggle(NOTHING_SELECTED, "a"), "e");
  const all = toggleAll(some, ["a", "b"]);
  expect(ids(all)).toBe("abe");
  expect(ids(toggleAll(all, ["a", "b"]))).toBe("e");
});

test("rows that no longer exist are not selected", () => {
  const some = toggle(toggle(NOTHING_SELECTED, "a"), "b");
  expect(keepExisting(some, () => true)).toBe(some);
  const kept = keepExisting(some, (id) => id === "a");
  expect(ids(kept)).toBe("a");
  expect(kept.anchor).toBeNull();
});
