/** The columns of the runs table: title, width, meaning, and the value to sort by. */

import type { RunSummary } from "../../api/types";
import type { SortValue } from "../../ui/sorting";

export interface Column {
  id: string;
  title: string;
  /** What the value means, shown with the title. */
  help: string;
  /** Width in pixels; null for columns that share what is left. */
  width: number | null;
  /** Numbers are aligned to the right. */
  numeric: boolean;
  /** Whether the largest value comes first when the title is clicked for the first time. */
  largestFirst: boolean;
  value: (run: RunSummary) => SortValue;
}

/** Statuses in the order of sorting: what trains comes first, what needs attention last. */
export const STATUS_ORDER = [
  "running",
  "paused",
  "stalled",
  "finished",
  "stopped",
  "failed",
  "lost",
  "unreadable",
];
/** Statuses of a run that a process is training. */
export const ACTIVE = ["running", "paused", "stalled"];

const text = (id: string, title: string, width: number | null, help: string, value: Column["value"]): Column => ({
  id,
  title,
  help,
  width,
  numeric: false,
  largestFirst: false,
  value,
});
const number = (id: string, title: string, width: number | null, help: string, value: Column["value"]): Column => ({
  id,
  title,
  help,
  width,
  numeric: true,
  largestFirst: true,
  value,
});

export const COLUMNS: readonly Column[] = [
  text("status", "Status", 106, "What the run does now, or how it ended.", (run) => {
    const rank = STATUS_ORDER.indexOf(run.status);
    return rank < 0 ? STATUS_ORDER.length : rank;
  }),
  text("name", "Name", null, "The name of the run, or its id.", (run) => run.name || run.id),
  text("preset", "Env:variant", null, "The preset that it trains.", (run) => run.preset || null),
  text("algo", "Algo", 50, "The algorithm.", (run) => run.algo || null),
  { ...number("seed", "Seed", 46, "Root seed of all randomness.", (run) => run.seed), largestFirst: false },
  number("progress", "Progress", 70, "Fraction of the budget that is used.", (run) => run.progress),
  {
    ...number("remaining", "Left", 60, "Time until the budget is used, at the present speed.", (run) => run.remaining_seconds),
    largestFirst: false,
  },
  number("score", "Score", 176, "Mean raw return of the best version with its 95 % interval: on held-out seeds when training has ended, until then on those of its evaluation (unconfirmed). Sorted by the lower bound; unconfirmed scores and those over too few episodes come last.", (run) => run.score?.rank ?? null),
  number("area", "Area", 48, "Normalized area under the learning curve: 1 if it was at the threshold from the start.", (run) => run.learning?.area ?? null),
  number("best", "Best", 58, "Highest mean return of an evaluation, or the score if that is higher.", (run) => run.best_score),
  number("alerts", "Alerts", 54, "Number of alerts of the diagnosis.", (run) => (run.problem ? null : run.n_alerts)),
  text("tags", "Tags", 76, "Tags of the run.", (run) => run.tags.join(" ") || null),
  number("speed", "Steps/s", 66, "Env steps per second.", (run) => run.steps_per_second),
  number("curve", "Eval return", 96, "Mean evaluation return over env steps; sorted by the latest one.", (run) => run.curve.at(-1)?.[1] ?? null),
  { ...number("age", "Age", 60, "Time since the run was created.", (run) => -run.created), largestFirst: false },
  text("id", "Id", 76, "The id of the run.", (run) => run.id),
  text("group", "Seed group", null, "The group of seeds that it belongs to.", (run) => run.group_name || run.group),
  number("env_steps", "Env steps", 72, "Env steps so far.", (run) => run.clocks["env_steps"] ?? null),
  number("seconds", "Time", 72, "Training time.", (run) => run.clocks["seconds"] ?? null),
  text("reason", "Ended because", null, "The reason why training ended.", (run) => run.reason || null),
  text("note", "Note", null, "The note of the run.", (run) => run.note || null),
  text("host", "Host", 90, "The machine that trained it.", (run) => run.host || null),
];

/** The columns that are shown until the user chooses others. */
export const DEFAULT_COLUMNS = COLUMNS.slice(0, 15).map((column) => column.id);
/** The columns at phone width. */
export const COMPACT_COLUMNS = ["status", "name", "score", "curve"];

const byId = new Map(COLUMNS.map((column) => [column.id, column]));

/** Narrowest width of a column that shares what is left. */
export const MIN_WIDTH = 120;
/** Width of the column with the check boxes. */
export const SELECT_WIDTH = 28;

/** Returns the width in pixels that columns need at least. */
export function minimumWidth(columns: readonly Column[]): number {
  return columns.reduce((sum, column) => sum + (column.width ?? MIN_WIDTH), SELECT_WIDTH);
}

/** Returns the columns with these ids, in the order of COLUMNS; ids that do not exist are skipped. */
export function chosenColumns(ids: readonly string[]): Column[] {
  return COLUMNS.filter((column) => ids.includes(column.id));
}

export function columnById(id: string): Column | undefined {
  return byId.get(id);
}
