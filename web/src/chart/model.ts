/** What a plot needs to know about its data, whatever it draws. */
import type { Range } from "./view";

/** The place of a plot, and of values in it. */
export interface PlotBox {
  left: number;
  top: number;
  width: number;
  height: number;
  view: Range;
  toX: (x: number) => number;
  toY: (y: number) => number;
}

/** The plot area in canvas pixels, to draw on. */
export interface Area extends PlotBox {
  ctx: CanvasRenderingContext2D;
  /** Canvas pixels per CSS pixel. */
  ratio: number;
}

export interface LegendEntry {
  key: string;
  label: string;
  color: string;
  dash?: number[] | undefined;
}

/** A value at the crosshair. */
export interface Reading extends LegendEntry {
  x: number;
  value: number | null;
  /** Position on the y axis; null if it is a gap. */
  y: number | null;
  low?: number | null;
  high?: number | null;
}

export interface PlotModel {
  isLog: boolean;
  /** The whole range of the x axis; null without data. */
  xRange: Range | null;
  /** The range of the y axis for a view. */
  yRange: (view: Range) => Range;
  /** Labels of the y axis, if it has categories instead of numbers. */
  yLabels?: string[];
  paint: (area: Area) => void;
  legend: LegendEntry[];
  /** Last positions on the y axis, for labels at the ends of lines; null for other kinds of charts. */
  ends: ((view: Range) => { key: string; y: number }[]) | null;
  readings: (x: number) => Reading[];
  /** Columns for CSV and the data table: x first. */
  columns: () => { name: string; values: (number | null)[] }[];
  format: (value: number) => string;
  /** Factor of the numbers on the y axis: 100 for shares, which are shown in percent. */
  axisScale: number;
}
