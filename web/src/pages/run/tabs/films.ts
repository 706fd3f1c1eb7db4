/** The films of a run for display. */
import type { RunDetails, StoredFilm } from "../../../api/types";
import { formatCount } from "../../../ui/numbers";
import { fileName } from "../parts/text";

/** A video of a stored episode or match, as `show` describes it. */
export type RunFilm = StoredFilm;

/** Returns the films of a run, those of the best checkpoint first. */
export function filmsOf(details: Pick<RunDetails, "videos">): RunFilm[] {
  return details.videos;
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
