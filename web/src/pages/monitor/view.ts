/** The state of the Monitor page, which is the query of its URL: reading it restores the whole view. */
import { joinedList, listOf, pathWith } from "../../app/paths";
import type { Sort } from "../../ui/sorting";

/** What the sections of charts of single runs are about: one measure of all runs, or all measures of one run. */
export type Arrangement = "measure" | "run";

export interface MonitorView {
  /** The environment; empty for that of the newest run. */
  env: string;
  /** Approaches that are shown; empty for all of the environment. */
  approaches: string[];
  /** Ids of the runs that are shown; empty for all of the approaches. */
  runs: string[];
  /** Number of points that a smoothed curve averages. */
  smooth: number;
  /** Whether runs with broken columns are left out; else they are an error. */
  skipBroken: boolean;
  arrangement: Arrangement;
  /** Order of the overview; undefined for that of the report. */
  sort: Sort | undefined;
  /** Sections that are folded. */
  closed: string[];
}

export const DEFAULT_SMOOTH = 10;
export const MAX_SMOOTH = 1000;

export const DEFAULT_VIEW: MonitorView = {
  env: "",
  approaches: [],
  runs: [],
  smooth: DEFAULT_SMOOTH,
  skipBroken: false,
  arrangement: "measure",
  sort: undefined,
  closed: [],
};

/** Reads the view from the query of the URL. Values that are not valid count as absent. */
export function parseView(params: URLSearchParams): MonitorView {
  const sort = params.get("sort") ?? "";
  return {
    env: params.get("env") ?? "",
    approaches: listOf(params.get("approaches")),
    runs: listOf(params.get("runs")),
    smooth: validSmooth(params.get("smooth")) ?? DEFAULT_SMOOTH,
    skipBroken: params.get("skip_broken") === "true",
    arrangement: params.get("by") === "run" ? "run" : "measure",
    sort: sort === "" || sort === "-" ? undefined : { key: sort.replace(/^-/, ""), descending: sort.startsWith("-") },
    closed: listOf(params.get("closed")),
  };
}

/** Returns the path of the page with this view; defaults are left out. */
export function viewPath(view: MonitorView): string {
  return pathWith("/monitor", {
    env: view.env,
    approaches: joinedList(view.approaches),
    runs: joinedList(view.runs),
    smooth: view.smooth === DEFAULT_SMOOTH ? "" : view.smooth,
    skip_broken: view.skipBroken ? "true" : "",
    by: view.arrangement === "measure" ? "" : view.arrangement,
    sort: view.sort ? `${view.sort.descending ? "-" : ""}${view.sort.key}` : "",
    closed: joinedList(view.closed),
  });
}

/** Returns the number of points to average that a text says; null if it is none. */
export function validSmooth(text: string | null): number | null {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return Number.isInteger(value) && value >= 1 && value <= MAX_SMOOTH ? value : null;
}

/** Returns a list with a value added, or removed if it has it. */
export function toggled(values: readonly string[], value: string): string[] {
  return values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
}
