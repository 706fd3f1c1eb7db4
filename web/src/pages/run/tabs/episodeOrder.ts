/** Orders of the list of episodes. Pure functions. */
import type { EpisodeInfo } from "../../../api/types";
import { sortedBy, type Sort, type SortValue } from "../../../ui/sorting";

type Listed = Pick<EpisodeInfo, "version" | "number" | "raw_return" | "returns" | "surprise">;

export interface EpisodeOrder {
  key: string;
  label: string;
  title: string;
  sorted: <T extends Listed>(episodes: readonly T[]) => T[];
}

/** The first one is used if none is chosen. */
export const ORDERS: readonly EpisodeOrder[] = [
  {
    key: "newest",
    label: "newest",
    title: "The latest policy first.",
    // As listed, oldest first: reversed by policy, in order within each.
    sorted: (episodes) => sortedBy(episodes, (episode) => episode.version, true),
  },
  {
    key: "best",
    label: "best",
    title: "The highest return first.",
    sorted: (episodes) => sortedBy(episodes, returnOf, true),
  },
  {
    key: "worst",
    label: "worst",
    title: "The lowest return first.",
    sorted: (episodes) => sortedBy(episodes, returnOf, false),
  },
  {
    key: "surprising",
    label: "most surprising",
    title: "First those whose return was furthest from what the critic expected at the start.",
    sorted: (episodes) => sortedBy(episodes, (episode) => episode.surprise, true),
  },
];

export function orderOf(key: string | null): EpisodeOrder {
  return ORDERS.find((order) => order.key === key) ?? ORDERS[0]!;
}

/** Returns the return of an episode; of a match, that of its first role. */
export function returnOf(episode: Listed): number | null {
  return episode.raw_return ?? Object.values(episode.returns)[0] ?? null;
}

/** Returns the episodes in the chosen order or, after a click on a column, sorted by it. */
export function listed<T extends Listed>(
  episodes: readonly T[],
  order: EpisodeOrder,
  sort: Sort | undefined,
  value: ((row: T) => SortValue) | undefined,
): T[] {
  return sort && value ? sortedBy(episodes, value, sort.descending) : order.sorted(episodes);
}
