/** The films of a run for display. */
import type { RunDetails } from "../../../api/types";
import { formatCount } from "../../../ui/numbers";
import { fileName } from "../parts/text";

/** A video of a stored episode or match, as `show` describes it. */
export interface RunFilm {
  path: string;
  is_best: boolean;
  kind: string;
  version: number | null;
  episode: number | null;
  seed: number | null;
  length: number | null;
  raw_return: number | null;
  returns: Record<string, number>;
  cast: Record<string, string>;
  outcome: string;
  exact: boolean;
  note: string;
  created: number | null;
}

/** Returns the films of a run, those of the best checkpoint first. */
export function filmsOf(details: Pick<RunDetails, "videos">): RunFilm[] {
  return details.videos as unknown as RunFilm[];
}

const KINDS: Readonly<Record<string, string>> = { eval: "evaluation", confirm: "final evaluation", train: "training" };

/** Returns what a film shows: `evaluation at 151,552 env steps, episode 13`. */
export function filmText(film: RunFilm): string {
  if (film.kind === "learning") return "learning progress";
  if (!film.kind) return fileName(film.path);
  const at = film.version === null ? "" : ` at ${formatCount(film.version)} env steps`;
  const players = Object.entries(film.cast).map(([role, player]) => `${role} ${player}`);
  const which = players.length ? `, ${players.join(" against ")}` : film.episode === null ? "" : `, episode ${film.episode}`;
  return `${KINDS[film.kind] ?? film.kind}${at}${which}`;
}

/** Returns the address of a file of a run, relative to the base of the app. */
export function fileHref(id: string, path: string): string {
  return `files/${encodeURIComponent(id)}/${path.split("/").map(encodeURIComponent).join("/")}`;
}
