import { expect, test } from "vitest";
import { compareRefs } from "./sides";
import { testRun } from "./testRuns";

const runs = [
  testRun({ id: "a1", group: "a" }),
  testRun({ id: "a2", group: "a" }),
  testRun({ id: "b1", group: "b" }),
  testRun({ id: "b2", group: "b" }),
  testRun({ id: "lone", group: "one" }),
  testRun({ id: "free" }),
  testRun({ id: "broken", status: "unreadable", problem: "is not JSON" }),
];
const refs = (...ids: string[]): string[] => compareRefs(new Set(ids), runs);

test("complete groups of seeds are sides", () => {
  expect(refs("a1", "a2", "b2", "b1")).toEqual(["a", "b"]);
  expect(refs("a1", "a2", "free")).toEqual(["a", "free"]);
});

test("runs of a group that is not complete are compared one by one", () => {
  expect(refs("a1", "b1", "b2")).toEqual(["a1", "b"]);
  expect(refs("lone", "free")).toEqual(["lone", "free"]);
});

test("a single group is compared seed by seed", () => {
  expect(refs("a1", "a2")).toEqual(["a1", "a2"]);
});

test("selected runs that no longer exist, or cannot be read, are left out", () => {
  expect(refs("gone", "broken", "free")).toEqual(["free"]);
});
