/** The model of a stacked chart: the share of each series in their sum. */
import { rounded } from "../ui/numbers";
import { resolved } from "./colors";
import type { Area, LegendEntry, PlotModel, Reading } from "./model";
import type { StackedChartProps } from "./types";
import { covered, indicesIn, nearest, type Range } from "./view";

export class StackedModel implements PlotModel {
  readonly isLog = false;
  readonly axisScale = 100;
  readonly xRange: Range | null;
  readonly ends = null;
  /** [series][position] -> upper edge of its area; NaN where the sum is zero or a value is missing. */
  private readonly edges: Float64Array[];

  constructor(
    private readonly props: StackedChartProps,
    private readonly theme: "light" | "dark",
  ) {
    this.xRange = props.xRange ?? covered(props.series.map((series) => series.x));
    this.edges = stackedEdges(props.series.map((series) => series.y));
  }

  get legend(): LegendEntry[] {
    return this.props.series;
  }

  readonly yRange = (): Range => [0, 1];

  readonly paint = (area: Area): void => {
    const { ctx, toX, toY } = area;
    this.props.series.forEach((series, k) => {
      const [top, bottom] = [this.edges[k], this.edges[k - 1]];
      if (!top) return;
      const [first, end] = indicesIn(series.x, area.view);
      ctx.fillStyle = resolved(series.color, this.theme);
      ctx.globalAlpha = 0.75;
      ctx.beginPath();
      let start = -1;
      for (let i = first; i <= end; i++) {
        const isMissing = i === end || Number.isNaN(top[i] ?? NaN);
        if (!isMissing) {
          if (start < 0) start = i;
          continue;
        }
        if (start < 0) continue;
        for (let j = start; j < i; j++) ctx.lineTo(toX(series.x[j] ?? 0), toY(top[j] ?? 0));
        for (let j = i - 1; j >= start; j--) ctx.lineTo(toX(series.x[j] ?? 0), toY(bottom?.[j] ?? 0));
        ctx.closePath();
        ctx.fill();
        ctx.beginPath();
        start = -1;
      }
      ctx.globalAlpha = 1;
    });
  };

  readonly readings = (x: number): Reading[] =>
    this.props.series.map((series, k) => {
      const { key, label, color } = series;
      const i = nearest(series.x, x);
      const [top, below] = [this.edges[k]?.[i] ?? NaN, k ? (this.edges[k - 1]?.[i] ?? NaN) : 0];
      const isKnown = !Number.isNaN(top);
      return { key, label, color, x: series.x[i] ?? x, value: isKnown ? top - below : null, y: isKnown ? (top + below) / 2 : null };
    });

  readonly columns = () => {
    const xs = Array.from(this.props.series[0]?.x ?? []);
    return [
      { name: this.props.xLabel, values: xs as (number | null)[] },
      ...this.props.series.map(({ label, y }) => ({ name: label, values: Array.from(y) })),
    ];
  };

  readonly format = (value: number): string => `${rounded(value * 100, 1)}%`;
}

/** Returns the upper edges of stacked shares: [series][position]. Signs do not matter, as for losses. */
export function stackedEdges(series: readonly ArrayLike<number | null>[]): Float64Array[] {
  const length = Math.max(0, ...series.map((values) => values.length));
  const edges = series.map(() => new Float64Array(length));
  for (let i = 0; i < length; i++) {
    const sizes = series.map((values) => Math.abs(values[i] ?? NaN));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    let sum = 0;
    sizes.forEach((size, k) => {
      sum += size;
      const row = edges[k];
      if (row) row[i] = total > 0 && Number.isFinite(total) ? sum / total : NaN;
    });
  }
  return edges;
}
