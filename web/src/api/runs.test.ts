import { expect, test } from "vitest";
import { queryText } from "./client";
import { appliedTo } from "./runs";
import type { RunSummary } from "./types";

const run = (id: string, created: number, status = "running") => ({ id, created, status }) as RunSummary;
const message = (changed: RunSummary[], removed: string[] = [], complete = false) => ({ changed, removed, total: 0, complete });

test("messages change, add and remove runs, newest first", () => {
  const first = appliedTo([], message([run("a", 1), run("b", 2)], [], true));
  expect(first.map(({ id }) => id)).toEqual(["b", "a"]);
  const later = appliedTo(first, message([run("a", 1, "finished"), run("c", 3)]));
  expect(later.map(({ id, status }) => [id, status])).toEqual([["c", "running"], ["b", "running"], ["a", "finished"]]);
  expect(later[1]).toBe(first[0]);
  expect(appliedTo(later, message([], ["b"])).map(({ id }) => id)).toEqual(["c", "a"]);
});

test("a complete message replaces what the page has, as after a restart of the server", () => {
  const before = appliedTo([], message([run("a", 1), run("b", 2)], [], true));
  expect(appliedTo(before, message([run("b", 2)], [], true)).map(({ id }) => id)).toEqual(["b"]);
  expect(appliedTo(before, message([], [], true))).toEqual([]);
});

test("arguments are a query: lists repeat, mappings are JSON, null is left out", () => {
  const args = { refs: ["a", "b c"], x: null, points: 800, overrides: { "algo.lr": 1 }, sizes: false, after: undefined };
  expect(new URLSearchParams(queryText(args)).getAll("refs")).toEqual(["a", "b c"]);
  expect(queryText(args)).toBe("refs=a&refs=b+c&points=800&overrides=%7B%22algo.lr%22%3A1%7D&sizes=false");
});
