/** The model of a heat map: a row of cells for each category, darker for larger shares. */
import { rounded } from "../ui/numbers";
import { resolved } from "./colors";
import type { Area, LegendEntry, PlotModel, Reading } from "./model";
import type { HeatChartProps } from "./types";
import { covered, indicesIn, nearest, type Range } from "./view";

export class HeatModel implements PlotModel {
  readonly isLog = false;
  readonly axisScale = 1;
  readonly xRange: Range | null;
  readonly ends = null;
  readonly legend: LegendEntry[] = [];
  readonly yLabels: string[];
  private readonly largest: number;

  constructor(
    private readonly props: HeatChartProps,
    private readonly theme: "light" | "dark",
  ) {
    this.xRange = props.xRange ?? covered([props.x]);
    this.yLabels = shownLabels(props.rows.map((row) => row.label), props.height ?? 160);
    let largest = 0;
    for (const { values } of props.rows) {
      for (let i = 0; i < values.length; i++) {
        const value = values[i];
        if (typeof value === "number" && Number.isFinite(value)) largest = Math.max(largest, value);
      }
    }
    this.largest = largest || 1;
  }

  readonly yRange = (): Range => [0, Math.max(1, this.props.rows.length)];

  readonly paint = (area: Area): void => {
    const { ctx, left, width, toX, toY } = area;
    const { x, rows } = this.props;
    const [first, end] = indicesIn(x, area.view);
    ctx.fillStyle = resolved("var(--accent)", this.theme);
    for (let i = first; i < end; i++) {
      // A cell reaches halfway to its neighbors.
      const at = x[i] ?? 0;
      const from = i > 0 ? toX((at + (x[i - 1] ?? at)) / 2) : left;
      const to = i + 1 < x.length ? toX((at + (x[i + 1] ?? at)) / 2) : left + width;
      rows.forEach(({ values }, k) => {
        const value = values[i];
        if (typeof value !== "number" || !Number.isFinite(value) || value <= 0) return;
        ctx.globalAlpha = Math.sqrt(value / this.largest);
        const top = Math.floor(toY(k + 1));
        ctx.fillRect(Math.floor(from), top, Math.ceil(to) - Math.floor(from), Math.ceil(toY(k)) - top);
      });
    }
    ctx.globalAlpha = 1;
  };

  readonly readings = (x: number): Reading[] => {
    const i = nearest(this.props.x, x);
    return this.props.rows.map(({ label, values }, k) => {
      const value = values[i];
      const isKnown = typeof value === "number" && Number.isFinite(value);
      return { key: label, label, color: "var(--accent)", x: this.props.x[i] ?? x, value: isKnown ? value : null, y: k + 0.5 };
    });
  };

  readonly columns = () => [
    { name: this.props.xLabel, values: Array.from(this.props.x) as (number | null)[] },
    ...this.props.rows.map(({ label, values }) => ({ name: label, values: Array.from(values) })),
  ];

  readonly format = (value: number): string => rounded(value, 3);
}

/** Returns the labels of rows; empty ones between them if there is no room for all. */
function shownLabels(labels: string[], height: number): string[] {
  const every = Math.max(1, Math.ceil((labels.length * 13) / Math.max(1, height - 45)));
  return labels.map((label, i) => (i % every === 0 ? label : ""));
}
