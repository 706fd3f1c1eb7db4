/** The view of the charts, as the address of the page encodes it: x axis, smoothing, log scale, marks, zoom, sections. */
import { CLOCKS, type Clock } from "../../../api/types";
import { MAX_SMOOTHING } from "../../../chart/smooth";
import { defaultClock } from "../../../app/session";
import { MARK_KINDS, type MarkKind } from "./marks";

export interface ChartView {
  x: Clock;
  /** Weight of the past in the exponential moving average, 0 (none) to 0.99. */
  smoothing: number;
  log: boolean;
  /** The visible range of the x axis; all of it if undefined. */
  range: [number, number] | undefined;
  marks: ReadonlySet<MarkKind>;
  /** Sections of charts that are collapsed. */
  closed: ReadonlySet<string>;
  /** Sections of the list of all metrics that are open. */
  open: ReadonlySet<string>;
  /** Whether the list of all metrics is shown. */
  all: boolean;
  filter: string;
}

export const DEFAULT_VIEW: ChartView = {
  get x() {
    return defaultClock();
  },
  smoothing: 0,
  log: false,
  range: undefined,
  marks: new Set(MARK_KINDS),
  closed: new Set(),
  open: new Set(),
  all: false,
  filter: "",
};
/** Reads a view from the parameters of an address; what is missing or wrong has its default. */
export function parseView(params: URLSearchParams): ChartView {
  const x = params.get("x");
  const [low, high] = (params.get("range") ?? "").split("..").map(Number);
  const marks = params.get("marks");
  const smoothing = Number(params.get("smooth") ?? 0);
  return {
    x: CLOCKS.find((clock) => clock === x) ?? defaultClock(),
    smoothing: smoothing >= 0 && smoothing <= MAX_SMOOTHING ? smoothing : 0,
    log: params.get("log") === "1",
    range: low !== undefined && high !== undefined && low < high ? [low, high] : undefined,
    marks: marks === null ? DEFAULT_VIEW.marks : new Set(MARK_KINDS.filter((kind) => words(marks).has(kind))),
    closed: words(params.get("closed") ?? ""),
    open: words(params.get("open") ?? ""),
    all: params.get("all") === "1",
    filter: params.get("metric") ?? "",
  };
}

/** Returns the parameters of the address for a view; defaults are left out. Other parameters are kept. */
export function viewParams(view: ChartView, others = new URLSearchParams()): URLSearchParams {
  const params = new URLSearchParams(others);
  const put = (name: string, value: string) => (value ? params.set(name, value) : params.delete(name));
  put("x", view.x === defaultClock() ? "" : view.x);
  put("smooth", view.smoothing ? String(view.smoothing) : "");
  put("log", view.log ? "1" : "");
  put("range", view.range ? view.range.join("..") : "");
  if (MARK_KINDS.every((kind) => view.marks.has(kind))) params.delete("marks");
  else params.set("marks", MARK_KINDS.filter((kind) => view.marks.has(kind)).join(","));
  put("closed", [...view.closed].sort().join(","));
  put("open", [...view.open].sort().join(","));
  put("all", view.all ? "1" : "");
  put("metric", view.filter);
  return params;
}

/** Returns the set with one element added, or removed if it was there. */
export function toggled<T>(set: ReadonlySet<T>, element: T): Set<T> {
  const changed = new Set(set);
  if (!changed.delete(element)) changed.add(element);
  return changed;
}

function words(text: string): Set<string> {
  return new Set(text.split(",").filter(Boolean));
}
