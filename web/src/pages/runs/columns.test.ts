import { expect, test } from "vitest";
import { ACTIVE, chosenColumns, COLUMNS, COMPACT_COLUMNS, DEFAULT_COLUMNS, STATUS_ORDER } from "./columns";
import { testRun } from "./testRuns";

test("every column has its own id, a title and a meaning, and a value for every run", () => {
  expect(new Set(COLUMNS.map((column) => column.id)).size).toBe(COLUMNS.length);
  const unreadable = testRun({ status: "unreadable", problem: "is not JSON", preset: "", algo: "", seed: null });
  for (const column of COLUMNS) {
    expect(column.title && column.help).toBeTruthy();
    expect(column.value(unreadable)).not.toBeUndefined();
    expect(column.value(testRun())).not.toBeUndefined();
  }
});

test("chosen columns keep their order and unknown ones are skipped", () => {
  expect(chosenColumns(["age", "gone", "status"]).map((column) => column.id)).toEqual(["status", "age"]);
  for (const ids of [DEFAULT_COLUMNS, COMPACT_COLUMNS]) expect(chosenColumns(ids)).toHaveLength(ids.length);
});

test("active statuses are known statuses", () => {
  for (const status of ACTIVE) expect(STATUS_ORDER).toContain(status);
});
