/** Which episodes can be compared with one. Pure functions. */
import type { EpisodeInfo } from "../../../api/types";

/** Returns the stored episodes with the same seed, other policies only, the latest first. */
export function sameSeed(
  episodes: readonly EpisodeInfo[],
  seed: number,
  shown: { kind: string; version: number; number: number; isSameRun: boolean },
): EpisodeInfo[] {
  const isShown = (episode: EpisodeInfo) =>
    shown.isSameRun && episode.kind === shown.kind && episode.version === shown.version && episode.number === shown.number;
  return episodes.filter((episode) => episode.seed === seed && !isShown(episode)).sort((a, b) => b.version - a.version);
}
