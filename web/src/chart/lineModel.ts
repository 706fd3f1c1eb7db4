/** The model of a line chart: smoothing, ranges, drawing, readings. */
import type { Values } from "../api/types";
import { rounded } from "../ui/numbers";
import { resolved } from "./colors";
import { drawBand, drawLine } from "./lines";
import type { Area, LegendEntry, PlotModel, Reading } from "./model";
import { drawMany } from "./pixels";
import { smoothed } from "./smooth";
import type { LineChartProps, LineSeries } from "./types";
import { covered, extremes, indicesIn, nearest, padded, type Range } from "./view";

const MANY = 24;
/* With more series than this, bands would hide everything, and paths would take too long. */

export class LineModel implements PlotModel {
  readonly isLog: boolean;
  readonly xRange: Range | null;
  readonly axisScale: number;
  private readonly shown: LineSeries[];
  private readonly drawn = new Map<LineSeries, Values>();
  private readonly bands = new Map<LineSeries, boolean>();
  private readonly labeled: LineSeries[];

  constructor(
    private readonly props: LineChartProps,
    private readonly theme: "light" | "dark",
    hidden: ReadonlySet<string>,
    /** Key of the series that is emphasized; empty for none. */
    private readonly emphasized: string,
  ) {
    this.isLog = props.log ?? false;
    this.axisScale = props.unit === "share" ? 100 : 1;
    this.shown = props.series.filter((series) => !hidden.has(series.key));
    this.labeled = this.shown.filter((series) => !series.faint);
    this.xRange = props.xRange ?? covered(props.series.map((series) => series.x));
  }

  get legend(): LegendEntry[] {
    return this.props.series.filter((series) => !series.faint);
  }

  readonly yRange = (view: Range): Range => {
    const { yRange } = this.props;
    const isWhole = this.xRange !== null && view[0] <= this.xRange[0] && view[1] >= this.xRange[1];
    if (yRange && isWhole && !this.isLog) return yRange;
    const found: [number, number] = [Infinity, -Infinity];
    for (const series of this.shown) {
      const [first, end] = indicesIn(series.x, view);
      extremes(series.y, first, end, this.isLog, found);
      if (!this.hasBand(series)) continue;
      if (series.low) extremes(series.low, first, end, this.isLog, found);
      if (series.high) extremes(series.high, first, end, this.isLog, found);
    }
    const lines = this.props.lines ?? [];
    extremes(lines.map((line) => line.y), 0, lines.length, this.isLog, found);
    if (this.props.range) extremes(this.props.range, 0, 2, this.isLog, found);
    return padded(found[0], found[1], this.isLog);
  };

  readonly paint = (area: Area): void => {
    this.paintRanges(area);
    if (this.shown.length > MANY) this.paintMany(area);
    else this.paintFew(area);
    this.paintLines(area);
  };

  private paintFew(area: Area): void {
    for (const series of this.shown) if (series.faint) this.stroke(area, series, series.y, 0.3, 1);
    for (const series of this.labeled) {
      if (!this.hasBand(series) || !series.low || !series.high) continue;
      drawBand(area, series.x, series.low, series.high, this.isLog, resolved(series.color, this.theme), 0.2);
    }
    if (this.props.smoothing) for (const series of this.labeled) this.stroke(area, series, series.y, 0.3, 1);
    for (const series of this.labeled) {
      const isFirst = series.key === this.emphasized;
      this.stroke(area, series, this.line(series), this.emphasized && !isFirst ? 0.3 : 1, isFirst ? 2.5 : 1.5);
    }
  }

  private paintMany(area: Area): void {
    const isDimmed = this.emphasized !== "";
    const ordered = [...this.shown].sort((a, b) => Number(b.faint ?? false) - Number(a.faint ?? false));
    const inks = ordered.map((series) => ({
      x: series.x,
      y: this.line(series),
      low: this.hasBand(series) ? series.low : undefined,
      high: this.hasBand(series) ? series.high : undefined,
      color: resolved(series.color, this.theme),
      alpha: series.faint || isDimmed ? 0.3 : 0.85,
    }));
    drawMany(area, inks, this.isLog);
    const first = this.labeled.find((series) => series.key === this.emphasized);
    if (first) this.stroke(area, first, this.line(first), 1, 2.5);
    // Means of seed groups stay on top of their seeds.
    else if (this.labeled.length <= MANY) for (const series of this.labeled) this.stroke(area, series, this.line(series), 1, 1.5);
  }

  readonly ends = (view: Range): { key: string; y: number }[] =>
    this.labeled.flatMap((series) => {
      const y = this.line(series);
      const [first, end] = indicesIn(series.x, view);
      for (let i = end - 1; i >= first; i--) {
        const value = y[i];
        if (value !== null && value !== undefined && Number.isFinite(value)) return [{ key: series.key, y: value }];
      }
      return [];
    });

  readonly readings = (x: number): Reading[] =>
    this.labeled.map((series) => {
      const { key, label, color, dash } = series;
      const i = nearest(series.x, x);
      const value = finite(this.line(series)[i]);
      const hasBand = this.hasBand(series);
      const entry = { key, label, color, dash, x: series.x[i] ?? x, value, y: value };
      return hasBand ? { ...entry, low: finite(series.low?.[i]), high: finite(series.high?.[i]) } : entry;
    });

  readonly columns = () => {
    const all = new Set<number>();
    for (const series of this.shown) for (let i = 0; i < series.x.length; i++) all.add(series.x[i] as number);
    const xs = [...all].sort((a, b) => a - b);
    const columns: { name: string; values: (number | null)[] }[] = [{ name: this.props.xLabel, values: xs }];
    for (const series of this.shown) {
      const named: [string, Values][] = [[series.label, series.y]];
      if (this.hasBand(series) && series.low && series.high) {
        named.push([`${series.label} low`, series.low], [`${series.label} high`, series.high]);
      }
      for (const [name, values] of named) {
        const at = new Map<number, number | null>();
        for (let i = 0; i < series.x.length; i++) at.set(series.x[i] as number, values[i] ?? null);
        columns.push({ name, values: xs.map((x) => at.get(x) ?? null) });
      }
    }
    return columns;
  };

  readonly format = (value: number): string =>
    rounded(value * this.axisScale, this.props.digits ?? 3) + (this.axisScale === 100 ? "%" : "");

  private stroke(area: Area, series: LineSeries, y: Values, alpha: number, width: number): void {
    drawLine(area, series.x, y, this.isLog, { color: resolved(series.color, this.theme), width, alpha, dash: series.dash });
  }

  /** The values of a line: smoothed, if that is asked for. Computed when it is first drawn. */
  private line(series: LineSeries): Values {
    const weight = this.props.smoothing ?? 0;
    if (weight <= 0 || series.faint || series.exact) return series.y;
    let values = this.drawn.get(series);
    if (!values) this.drawn.set(series, (values = smoothed(series.y, weight)));
    return values;
  }

  /** Whether the band differs from the line: data that was not reduced has none. */
  private hasBand(series: LineSeries): boolean {
    let found = this.bands.get(series);
    if (found === undefined) {
      const { low, high, y } = series;
      found = false;
      if (low && high && low !== y) {
        for (let i = 0; i < y.length && !found; i++) {
          const [bottom, top] = [low[i], high[i]];
          found = typeof bottom === "number" && typeof top === "number" && bottom < top;
        }
      }
      this.bands.set(series, found);
    }
    return found;
  }

  private paintRanges(area: Area): void {
    const { healthy, bounds } = this.props;
    const { ctx, left, top, width, height } = area;
    const edge = (value: number | null, open: number) => {
      if (value === null || !Number.isFinite(value) || (this.isLog && value <= 0)) return open;
      return Math.max(top, Math.min(top + height, area.toY(value)));
    };
    if (healthy) {
      const [from, to] = [edge(healthy[1], top), edge(healthy[0], top + height)];
      ctx.fillStyle = resolved("var(--healthy)", this.theme);
      ctx.fillRect(left, from, width, to - from);
    }
    if (bounds) {
      ctx.fillStyle = resolved("var(--outside)", this.theme);
      const [from, to] = [edge(bounds[1], top), edge(bounds[0], top + height)];
      ctx.fillRect(left, top, width, from - top);
      ctx.fillRect(left, to, width, top + height - to);
    }
  }

  private paintLines(area: Area): void {
    const { ctx, left, top, width, height, ratio } = area;
    const color = resolved("var(--muted)", this.theme);
    ctx.font = `${10 * ratio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    for (const line of this.props.lines ?? []) {
      const y = Math.round(area.toY(line.y)) + 0.5;
      if (!(y >= top && y <= top + height)) continue;
      ctx.strokeStyle = ctx.fillStyle = color;
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(left, y);
      ctx.lineTo(left + width, y);
      ctx.stroke();
      ctx.setLineDash([]);
      const isBelow = y < top + 14 * ratio;
      ctx.textBaseline = isBelow ? "top" : "bottom";
      ctx.fillText(line.label, left + 4 * ratio, isBelow ? y + 2 * ratio : y - 2 * ratio);
    }
  }
}

function finite(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null;
}
