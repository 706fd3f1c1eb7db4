/** Episodes in addresses of the app: `/run/ID/episodes/KIND-VERSION-NUMBER`. Pure functions. */
import { runPath } from "../../app/paths";
import type { EpisodeAddress, EpisodeKind } from "./types";

const KINDS: readonly EpisodeKind[] = ["train", "eval", "confirm", "fresh", "played"];

/** Returns the episode that the last part of a path names; null if it names none. */
export function parseEpisode(run: string, text: string): EpisodeAddress | null {
  const [, word, version, number] = /^([a-z]+)-(\d+)-(\d+)$/.exec(text) ?? [];
  const kind = KINDS.find((known) => known === word);
  return kind ? { run, kind, version: Number(version), number: Number(number) } : null;
}

/** Returns the episode that `RUN/KIND-VERSION-NUMBER` names; null if it names none. */
export function parseOtherEpisode(text: string): EpisodeAddress | null {
  const at = text.lastIndexOf("/");
  return at > 0 ? parseEpisode(text.slice(0, at), text.slice(at + 1)) : null;
}

/** Returns `KIND-VERSION-NUMBER`. */
export function episodeText({ kind, version, number }: Omit<EpisodeAddress, "run">): string {
  return `${kind}-${version}-${number}`;
}

/** Returns the path of an episode's page. */
export function episodePath(address: EpisodeAddress): string {
  return `${runPath(address.run, "episodes")}/${episodeText(address)}`;
}

/** Returns the arguments with which operations name an episode or match. */
export function episodeArguments({ run, kind, version, number }: EpisodeAddress) {
  return { ref: run, kind, version, number };
}

/** Returns the arguments with which operations name the steps of one agent: in a match, with its role and seat. */
export function agentArguments({ role = "", seat = 0, ...episode }: EpisodeAddress) {
  return { ...episodeArguments(episode), ...(role && { role, seat }) };
}
