import { expect, test } from "vitest";
import { columnById } from "./columns";
import { countValues, groupRuns, isGroup, meanScore, tableRows } from "./grouping";
import { testRun, testScore } from "./testRuns";

const byScore = { value: columnById("score")!.value, descending: true };
const runs = [
  testRun({ id: "a", env: "A", preset: "A:ppo", group: "g", group_name: "base", score: testScore(1) }),
  testRun({ id: "b", env: "B", preset: "B:ppo", group: null, score: testScore(5) }),
  testRun({ id: "c", env: "A", preset: "A:dqn", group: "g", group_name: "base", score: testScore(9), status: "stopped" }),
  testRun({ id: "d", env: "A", preset: "A:ppo", group: "g", group_name: "base", score: testScore(3) }),
  testRun({ id: "e", status: "unreadable", env: "", preset: "", problem: "is not JSON" }),
];

test("every run is in exactly one group, in the order of the table", () => {
  for (const grouping of ["none", "environment", "variant", "seeds"] as const) {
    const rows = tableRows(runs, grouping, byScore, new Set());
    const shown = rows.flatMap((row) => (isGroup(row) ? [] : [row.id]));
    expect([...shown].sort()).toEqual(["a", "b", "c", "d", "e"]);
    for (const group of groupRuns(runs, grouping, byScore)) {
      const scores = group.runs.map((run) => run.score?.mean ?? Number.NEGATIVE_INFINITY);
      expect(scores).toEqual([...scores].sort((x, y) => y - x));
    }
  }
});

test("a group comes where its first run would be, and runs without a group come last", () => {
  expect(groupRuns(runs, "environment", byScore).map((group) => group.key)).toEqual(["A", "B", ""]);
  const ascending = { ...byScore, descending: false };
  expect(groupRuns(runs, "variant", ascending).map((group) => group.key)).toEqual(["A:ppo", "B:ppo", "A:dqn", ""]);
  expect(groupRuns(runs, "seeds", byScore).map((group) => group.label)).toEqual(["base", ""]);
});

test("a closed group shows one line", () => {
  const rows = tableRows(runs, "environment", byScore, new Set(["A"]));
  expect(rows.map((row) => (isGroup(row) ? `${row.key}:${row.open}` : row.id))).toEqual([
    "A:false",
    "B:true",
    "b",
    ":true",
    "e",
  ]);
});

test("runs that did not finish do not enter the mean of a group", () => {
  expect(meanScore(runs.filter((run) => run.env === "A"))).toBe(2);
  expect(meanScore([testRun({ score: null })])).toBeNull();
  expect(meanScore([testRun({ score: testScore(0) })])).toBe(0);
});

test("scores over few episodes and unconfirmed ones enter the mean of a group only if there are no others", () => {
  const confirmed = { ...testScore(4), episodes: 100, caveat: "", rank: [2, 3, 4] as [number, number, number] };
  const lucky = testRun({ score: testScore(9) });
  expect(meanScore([lucky, testRun({ score: confirmed })])).toBe(4);
  expect(meanScore([lucky])).toBe(9);
  const order = tableRows([lucky, testRun({ id: "c", score: confirmed })], "none", byScore, new Set());
  expect(order[0]).toMatchObject({ id: "c" });
});

test("values are counted, the most frequent first", () => {
  const tagged = [testRun({ tags: ["x", "y"] }), testRun({ tags: ["y"] }), testRun()];
  expect(countValues(tagged, (run) => run.tags)).toEqual([
    { value: "y", count: 2 },
    { value: "x", count: 1 },
  ]);
});
