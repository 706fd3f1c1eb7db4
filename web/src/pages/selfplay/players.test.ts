import { describe, expect, test } from "vitest";
import type { EntrantRating, RunSummary } from "../../api/types";
import { durationQuantile, latestPolicies, rankedPlayers, runsWithRoles } from "./players";

const player = (role: string, name: string, rating: number, matches = 10): EntrantRating => ({
  role,
  name,
  rating,
  error: 5,
  low: rating - 10,
  high: rating + 10,
  matches,
});
const PLAYERS = [
  player("seeker", "scripted:medium", 1000, 400),
  player("seeker", "9000", 1200),
  player("seeker", "120000", 1100),
  player("hider", "120000", 1000, 20),
  player("hider", "scripted:weak", -30),
];

describe("players", () => {
  test("are ranked by rating, whatever their role", () => {
    expect(rankedPlayers(PLAYERS).map((p) => p.rating)).toEqual([1200, 1100, 1000, 1000, -30]);
    expect(rankedPlayers(PLAYERS)[2]!.matches).toBe(400);
  });

  test("the newest policy has the most steps, as a number and not as text", () => {
    expect(latestPolicies(PLAYERS).map((p) => `${p.role} ${p.name}`)).toEqual(["seeker 120000", "hider 120000"]);
    expect(latestPolicies([player("seeker", "scripted:weak", 1)])).toEqual([]);
  });
});

test("runs with roles are those whose score is about a role", () => {
  const runs = [{ score: null }, { score: { role: "" } }, { score: { role: "seeker" } }] as Pick<RunSummary, "score">[];
  expect(runsWithRoles(runs)).toEqual([runs[2]]);
});

describe("quantiles of match lengths", () => {
  const histogram = { role: "seeker", edges: [0, 10, 20, 40], counts: [5, 0, 5] };

  test("are interpolated within the bin", () => {
    expect(durationQuantile(histogram, 0.25)).toBe(5);
    expect(durationQuantile(histogram, 0.5)).toBe(10);
    expect(durationQuantile(histogram, 0.75)).toBe(30);
    expect(durationQuantile(histogram, 1)).toBe(40);
  });

  test("do not exist without matches", () => {
    expect(durationQuantile({ ...histogram, counts: [0, 0, 0] }, 0.5)).toBeNull();
  });
});
