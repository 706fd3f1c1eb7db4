/** What charts draw. */
import type { ReadonlySignal } from "@preact/signals";
import type { MetricInfo, Span, Values } from "../api/types";
import type { MenuItem } from "../ui/Menu";

export interface LineSeries {
  /** Unique in the chart; also the name of its column in CSV. */
  key: string;
  label: string;
  color: string;
  dash?: number[];
  x: ArrayLike<number>;
  /** NaN or null is a gap. */
  y: Values;
  /** A band around the line: seeds, or minimum and maximum of reduced data. */
  low?: Values | undefined;
  high?: Values | undefined;
  /** Drawn pale, without a legend entry, not smoothed: an individual seed behind its mean. */
  faint?: boolean;
  /** Not smoothed: each point is a mean already, such as an evaluation. */
  exact?: boolean;
}

export type MarkKind = "alert" | "checkpoint" | "evaluation" | "change" | "stage" | "rollback" | "resume";

export interface ChartMark {
  x: number;
  kind: MarkKind;
  level?: "error" | "warning";
  text: string;
  /** Where the mark leads: a path of the app, or an address. */
  href?: string | undefined;
}

export interface ChartLine {
  y: number;
  label: string;
}

/** Properties that all charts over a clock share. */
export interface ChartProps {
  title: string;
  unit?: string | undefined;
  help?: MetricInfo | undefined;
  /** A line below the title. */
  note?: string | undefined;
  /** Explains bands and smoothing, below the chart. */
  footnote?: string | undefined;
  xLabel: string;
  marks?: ChartMark[] | undefined;
  /** Charts with the same name share their crosshair and zoom. */
  sync?: string | undefined;
  /** Height of the plot in pixels. */
  height?: number | undefined;
  /** Called when the user zoomed this chart, e.g. to read finer data; null: zoom was reset. */
  onZoom?: ((low: number | null, high: number | null) => void) | undefined;
  /** Address that shows this chart; without it, the address of the page. */
  link?: string | undefined;
  /** Whether the series are listed below the chart; false if they are listed elsewhere on the page. */
  hasLegend?: boolean | undefined;
  /** Further entries of the menu. */
  actions?: readonly MenuItem[] | undefined;
  /** Range of the x axis; that of the data if missing. */
  xRange?: readonly [number, number] | undefined;
  /** A position on the x axis that stays marked, such as the current step of an episode. Values are shown there while
   * the pointer is elsewhere. */
  position?: ReadonlySignal<number> | undefined;
  /** Called with the position on the x axis that was clicked. The arrow keys then belong to the page. */
  onPick?: ((x: number) => void) | undefined;
}

export interface LineChartProps extends ChartProps {
  series: LineSeries[];
  healthy?: Span | null | undefined;
  bounds?: Span | null | undefined;
  /** The y axis covers at least this. */
  range?: Span | null | undefined;
  /** Range of the y axis while the whole x axis is shown, if it should not have all values: those outside are cut off. */
  yRange?: readonly [number, number] | undefined;
  lines?: ChartLine[] | undefined;
  log?: boolean | undefined;
  /** Weight of the past in the exponential moving average, 0 (none) to below 1. */
  smoothing?: number | undefined;
  /** Digits of values in the legend; 3 if missing. */
  digits?: number | undefined;
  /** Key of the series that stands out, such as the run that the pointer is on in a table; empty for none. */
  highlighted?: string | undefined;
  /** Called with the key of the line next to the pointer; null if there is none. */
  onHover?: ((key: string | null) => void) | undefined;
}

export interface StackedChartProps extends ChartProps {
  /** Each is drawn as its share of the sum at that position; all have the same x. */
  series: LineSeries[];
}

export interface HeatChartProps extends ChartProps {
  x: ArrayLike<number>;
  /** One row of cells each, the first at the bottom. */
  rows: { label: string; values: Values }[];
}

export interface HistogramChartProps {
  title: string;
  unit?: string | undefined;
  help?: MetricInfo | undefined;
  note?: string | undefined;
  /** Explains bands and smoothing, below the chart. */
  footnote?: string | undefined;
  xLabel: string;
  yLabel?: string | undefined;
  /** `counts[i]` is between `edges[i]` and `edges[i + 1]`. */
  series: { key: string; label: string; color: string; edges: ArrayLike<number>; counts: ArrayLike<number> }[];
  /** Names of the bars, if they are categories. */
  categories?: string[] | undefined;
  height?: number | undefined;
  link?: string | undefined;
  /** Further entries of the menu. */
  actions?: readonly MenuItem[] | undefined;
}

export interface MatrixCell {
  /** 0 to 1; null if unknown. */
  value: number | null;
  text: string;
  /** Explains the cell, on hover and focus. */
  detail: string;
}

export interface MatrixChartProps {
  title: string;
  note?: string | undefined;
  rowTitle: string;
  columnTitle: string;
  rows: string[];
  columns: string[];
  cells: MatrixCell[][];
}
