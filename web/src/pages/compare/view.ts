/** The state of the Compare page, which is the query of its URL: reading it restores the whole view. */
import { defaultClock } from "../../app/session";
import { joinedList, listOf, pathWith } from "../../app/paths";
import { MAX_SMOOTHING } from "../../chart/smooth";

/** How the chosen runs are put together: all seeds of a group, all runs of a variant, or every run alone. */
export type Grouping = "seed" | "variant" | "none";

export interface CompareView {
  /** References in the order in which they were added: runs, groups of seeds, or `a+b+c` for an ad-hoc group. */
  refs: string[];
  /** The clock on the x axis. */
  x: string;
  /** Keys of the metrics, one chart each; empty for the default choice. */
  metrics: string[];
  grouping: Grouping;
  /** Strength of the smoothing, 0 (none) to 0.99. */
  smoothing: number;
  /** Whether the y axes are logarithmic. */
  log: boolean;
  /** References of the sides that are not drawn. */
  hidden: string[];
  /** Reference of the side that the others are compared with; empty for the first one. */
  baseline: string;
  /** The range of the x axis; null for everything. */
  zoom: { low: number; high: number } | null;
}

const GROUPINGS: readonly Grouping[] = ["seed", "variant", "none"];

export const EMPTY_VIEW: CompareView = {
  refs: [],
  get x() {
    return defaultClock();
  },
  metrics: [],
  grouping: "seed",
  smoothing: 0,
  log: false,
  hidden: [],
  baseline: "",
  zoom: null,
};

/** Reads the view from the query of the URL. Values that are not valid count as absent. */
export function parseView(params: URLSearchParams): CompareView {
  const smoothing = Number(params.get("smoothing") ?? 0);
  return {
    refs: listOf(params.get("runs")),
    x: params.get("x") || defaultClock(),
    metrics: listOf(params.get("metrics")),
    grouping: GROUPINGS.find((known) => known === params.get("group")) ?? "seed",
    smoothing: Number.isFinite(smoothing) ? Math.min(Math.max(smoothing, 0), MAX_SMOOTHING) : 0,
    log: params.get("log") === "1",
    hidden: listOf(params.get("hidden")),
    baseline: params.get("baseline") ?? "",
    zoom: parseZoom(params.get("zoom")),
  };
}

/** Returns the path of the page with this view; defaults are left out. */
export function viewPath(view: CompareView): string {
  const zoom = view.zoom ? `${view.zoom.low}~${view.zoom.high}` : "";
  return pathWith("/compare", {
    runs: joinedList(view.refs),
    x: view.x === defaultClock() ? "" : view.x,
    metrics: joinedList(view.metrics),
    group: view.grouping === "seed" ? "" : view.grouping,
    smoothing: view.smoothing > 0 ? view.smoothing : "",
    log: view.log ? "1" : "",
    hidden: joinedList(view.hidden),
    baseline: view.baseline,
    zoom,
  });
}

function parseZoom(text: string | null): CompareView["zoom"] {
  const [low, high, ...rest] = (text ?? "").split("~").map((part) => (part === "" ? NaN : Number(part)));
  if (low === undefined || high === undefined || rest.length > 0) return null;
  return Number.isFinite(low) && Number.isFinite(high) && low < high ? { low, high } : null;
}
