/** The columns of the overview: what they show, with all digits, and the value to sort by. Pure functions. */
import type { OverviewRow, RoleOverview } from "../../api/types";
import { formatCount, formatNumber, formatShort, fullPrecision, rounded } from "../../ui/numbers";
import type { SortValue } from "../../ui/sorting";

export interface CellText {
  text: string;
  /** A second value, below: the best one, an interval. */
  detail?: string;
  /** Everything with all digits. */
  exact: string;
}

export interface OverviewColumn {
  key: string;
  /** The role or kind above the title; empty for none. */
  scope: string;
  title: string;
  help: string;
  value: (row: OverviewRow) => SortValue;
  /** What the cell shows; null if the run has no such value. */
  cell: (row: OverviewRow) => CellText | null;
}

/** Returns the columns with numbers, in the order of the table: those of the roles and outcomes that any run has. */
export function numberColumns(rows: readonly OverviewRow[]): OverviewColumn[] {
  const roles = unique(rows.flatMap((row) => row.roles.map((entry) => entry.role)));
  const outcomes = outcomeOrder(rows.flatMap((row) => Object.keys(row.outcomes)));
  return [EPISODES, ...roles.flatMap(roleColumns), ...outcomes.map(outcomeColumn), LENGTH].filter((column) =>
    rows.some((row) => column.cell(row) !== null),
  );
}

/** Returns outcomes by name; unknown ones, which count for nobody, are last. */
export function outcomeOrder(outcomes: readonly string[]): string[] {
  const isUnknown = (outcome: string) => Number(outcome === UNKNOWN);
  return unique(outcomes).sort((a, b) => isUnknown(a) - isUnknown(b) || a.localeCompare(b, "en"));
}

/** The outcome of matches that the environment did not report. */
export const UNKNOWN = "unknown";

const EPISODES: OverviewColumn = {
  key: "episodes",
  scope: "",
  title: "episodes",
  help: "Training episodes or matches that ended, and env steps.",
  value: (row) => row.episodes,
  cell: ({ episodes, env_steps }) => ({
    text: episodes === null ? "-" : formatShort(episodes),
    detail: `${formatShort(env_steps)} steps`,
    exact: `${episodes === null ? "" : `${formatCount(episodes)} episodes, `}${formatCount(env_steps)} env steps`,
  }),
};

const LENGTH: OverviewColumn = {
  key: "mean_length",
  scope: "",
  title: "length",
  help: "Mean number of steps of the last window of training episodes or matches.",
  value: (row) => row.mean_length,
  cell: ({ mean_length }) => (mean_length === null ? null : { text: formatNumber(mean_length), exact: `${fullPrecision(mean_length)} steps` }),
};

function roleColumns(role: string): OverviewColumn[] {
  const column = (
    field: string,
    title: string,
    help: string,
    value: (entry: RoleOverview) => number | null,
    cell: (entry: RoleOverview) => CellText | null,
  ): OverviewColumn => {
    const entryOf = (row: OverviewRow) => row.roles.find((entry) => entry.role === role);
    return {
      key: role ? `${role}:${field}` : field,
      scope: role,
      title,
      help: role ? `${role}: ${help}` : help,
      value: (row) => using(entryOf(row), value),
      cell: (row) => using(entryOf(row), cell),
    };
  };
  return [
    column("final_return", "return", "Mean return of the last window of training episodes, and the highest one.", (entry) => entry.final_return, (entry) => returns(entry.final_return, entry.best_return)),
    column("final_eval_return", "eval return", "Mean return of the last evaluation, and the highest one.", (entry) => entry.final_eval_return, (entry) => returns(entry.final_eval_return, entry.best_eval_return)),
    column("rolling_win_rate", "win rate", "Share of the last window of training matches that the role won, with its 95 % interval. Unknown outcomes count for nobody.", (entry) => entry.rolling_win_rate, (entry) => rate(entry.rolling_win_rate, entry.rolling_win_low, entry.rolling_win_high)),
    column("eval_win_rate", "eval wins", "Share of the matches of the last evaluation that the role won, with its 95 % interval.", (entry) => entry.eval_win_rate, (entry) => rate(entry.eval_win_rate, entry.eval_win_low, entry.eval_win_high)),
  ];
}

function outcomeColumn(outcome: string): OverviewColumn {
  return {
    key: `outcome:${outcome}`,
    scope: "",
    title: outcome,
    help: `Share of the last window of training matches with the outcome ${outcome}.`,
    value: (row) => row.outcomes[outcome],
    cell: (row) => rate(row.outcomes[outcome] ?? null, null, null),
  };
}

function returns(final: number | null, best: number | null): CellText | null {
  if (final === null) return null;
  if (best === null) return { text: formatNumber(final), exact: fullPrecision(final) };
  return { text: formatNumber(final), detail: `best ${formatNumber(best)}`, exact: `${fullPrecision(final)}, best ${fullPrecision(best)}` };
}

function rate(share: number | null, low: number | null, high: number | null): CellText | null {
  if (share === null) return null;
  const text = `${percent(share)}%`;
  if (low === null || high === null) return { text, exact: fullPrecision(share) };
  return { text, detail: `[${percent(low)}, ${percent(high)}]`, exact: `${fullPrecision(share)} [${fullPrecision(low)}, ${fullPrecision(high)}]` };
}

function percent(share: number): string {
  return rounded(share * 100, 1);
}

function using<T, R>(value: T | undefined, use: (value: T) => R): R | null {
  return value === undefined ? null : use(value);
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
