/** Parts of reports for tests. */
import type { MonitorChart, MonitorSeries, OverviewRow, RoleOverview } from "../../api/types";

export function makeSeries(changes: Partial<MonitorSeries> = {}): MonitorSeries {
  return { label: "selfplay", role: "", approach: "selfplay", x: [0, 1], y: [0, 1], low: [], high: [], band: "", n: [], ...changes };
}

/** Returns a chart of one column of a run, with a line per role. */
export function makeChart(column: string, changes: Partial<MonitorChart> = {}): MonitorChart {
  return {
    name: `a-${column}`,
    title: column,
    about: "run",
    run: "a",
    unit: "",
    kind: "lines",
    x_label: "env steps",
    series: [makeSeries()],
    sources: [{ file: "a/metrics.db", column }],
    runs: ["a"],
    smooth: 1,
    note: "",
    ...changes,
  };
}

export function makeRole(role: string, changes: Partial<RoleOverview> = {}): RoleOverview {
  return {
    role,
    final_return: 1 / 3,
    best_return: 2 / 3,
    final_eval_return: null,
    best_eval_return: null,
    rolling_win_rate: null,
    rolling_win_low: null,
    rolling_win_high: null,
    eval_win_rate: null,
    eval_win_low: null,
    eval_win_high: null,
    ...changes,
  };
}

export function makeRow(run: string, changes: Partial<OverviewRow> = {}): OverviewRow {
  return {
    approach: "selfplay",
    run,
    name: "",
    env: "tag",
    algo: "ppo",
    seed: 1,
    status: "finished",
    env_steps: 8_000_000,
    episodes: 1234,
    roles: [makeRole("")],
    outcomes: {},
    mean_length: 12.5,
    alerts: 0,
    verdict: "",
    sources: [`${run}/metrics.db`],
    ...changes,
  };
}
