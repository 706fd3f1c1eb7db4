/** Players of a self-play run: the rating table, and the runs that have roles. */
import type { DurationHistogram, EntrantRating, RunSummary } from "../../api/types";
import { isPolicy } from "./matrix";

/** Returns the players of all roles, the best first; of equal ratings, the one with more matches. */
export function rankedPlayers(players: readonly EntrantRating[]): EntrantRating[] {
  return [...players].sort((a, b) => b.rating - a.rating || b.matches - a.matches);
}

/** Returns the newest rated policy of each role: the one with the most env steps. */
export function latestPolicies(players: readonly EntrantRating[]): EntrantRating[] {
  const latest = new Map<string, EntrantRating>();
  for (const player of players) {
    if (!isPolicy(player.name)) continue;
    const known = latest.get(player.role);
    if (!known || envSteps(player) > envSteps(known)) latest.set(player.role, player);
  }
  return [...latest.values()];
}

function envSteps(player: EntrantRating): number {
  return Number(player.name.replace(/^step:/, ""));
}

/** Returns the runs whose score is about a role, newest first: these have matches. */
export function runsWithRoles<T extends Pick<RunSummary, "score">>(runs: readonly T[]): T[] {
  return runs.filter((run) => run.score !== null && run.score.role !== "");
}

/** Returns the length below which a share of the matches ended, from the histogram; null without matches. */
export function durationQuantile(histogram: DurationHistogram, share: number): number | null {
  const total = histogram.counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let below = 0;
  for (const [index, count] of histogram.counts.entries()) {
    if (count > 0 && below + count >= share * total) {
      const [left, right] = [histogram.edges[index]!, histogram.edges[index + 1]!];
      return left + ((share * total - below) / count) * (right - left);
    }
    below += count;
  }
  return histogram.edges.at(-1) ?? null;
}
