/** A plot on uPlot: it draws the axes and handles the pointer; the model draws the data. */
import uPlot from "uplot";
import { formatShort } from "../ui/numbers";
import { resolved } from "./colors";
import type { Area, PlotBox, PlotModel } from "./model";
import { logTicks, type Range } from "./view";

const EMPTY: Range = [0, 1];
const Y_AXIS = 50;
const X_AXIS = 20;
const LABEL = 13;
const FONT = "11px system-ui, sans-serif";

export interface PlotHandlers {
  onCursor: (x: number | null, y: number | null) => void;
  onSelect: (view: Range) => void;
  onReset: () => void;
  /** Called with the position on the x axis of a click. */
  onClick: (x: number) => void;
  /** Called after each drawing, with the place of the plot in CSS pixels. */
  onDraw: (box: PlotBox) => void;
}

export class Plot {
  private readonly chart: uPlot;
  private view: Range = EMPTY;

  constructor(
    host: HTMLElement,
    private model: PlotModel,
    private theme: "light" | "dark",
    size: { width: number; height: number },
    private readonly handlers: PlotHandlers,
    options: { xLabel: string; gutter: number },
  ) {
    this.chart = new uPlot(this.options(size, options), [[0, 1], [0, 1]], host);
    // The click that ends a drag does not arrive here.
    this.chart.over.addEventListener("click", (event) => handlers.onClick(this.chart.posToVal(event.offsetX, "x")));
  }

  /** Shows a model. `zoom`: part of the x axis; null for all. */
  show(model: PlotModel, zoom: Range | null, theme: "light" | "dark"): void {
    this.model = model;
    this.theme = theme;
    const whole = model.xRange ?? EMPTY;
    this.view = zoom ?? (whole[0] < whole[1] ? whole : [whole[0] - 0.5, whole[1] + 0.5]);
    const [low, high] = model.yRange(this.view);
    this.chart.setData([[this.view[0], this.view[1]], [low, high]]);
  }

  resize(width: number, height: number): void {
    if (width !== this.chart.width || height !== this.chart.height) this.chart.setSize({ width, height });
  }

  get canvas(): HTMLCanvasElement {
    return this.chart.ctx.canvas;
  }

  destroy(): void {
    this.chart.destroy();
  }

  private options(size: { width: number; height: number }, { xLabel, gutter }: { xLabel: string; gutter: number }): uPlot.Options {
    const stroke = () => resolved("var(--axis)", this.theme);
    const grid = { stroke: () => resolved("var(--grid)", this.theme), width: 1 };
    const ticks = { show: false };
    const labels = this.model.yLabels;
    return {
      ...size,
      padding: [10, Math.max(gutter, 12), 0, 0],
      legend: { show: false },
      scales: {
        x: { time: false, range: () => [this.view[0], this.view[1]] },
        y: { distr: this.model.isLog ? 3 : 1, range: (_, low, high) => [low, high] },
      },
      axes: [
        {
          stroke,
          grid,
          ticks,
          font: FONT,
          size: X_AXIS,
          gap: 4,
          label: xLabel,
          labelSize: LABEL,
          labelGap: 0,
          labelFont: "10px system-ui, sans-serif",
          space: (u) => Math.max(56, u.bbox.width / uPlot.pxRatio / 6),
          values: (_, splits) => splits.map((value) => formatShort(value)),
        },
        {
          stroke,
          grid,
          ticks,
          font: FONT,
          size: Y_AXIS,
          gap: 4,
          space: (u) => Math.max(22, u.bbox.height / uPlot.pxRatio / 6),
          ...(labels
            ? {
                splits: () => labels.map((_, i) => i + 0.5),
                values: () => labels.map((label) => (label.length > 7 ? `${label.slice(0, 6)}…` : label)),
                grid: { show: false },
              }
            : {
                // uPlot's own ticks of log axes need ends that are powers of ten, and do not end otherwise.
                ...(this.model.isLog ? { splits: (_, __, low, high) => logTicks(low, high), filter: (_, splits) => splits } : {}),
                values: (u, splits) => tickTexts(u, splits, this.model),
              }),
        },
      ],
      series: [{}, { paths: () => null, points: { show: false } }],
      cursor: {
        x: false,
        y: false,
        points: { show: false },
        drag: { x: true, y: false, setScale: false, dist: 4 },
        bind: {
          dblclick: () => () => {
            this.handlers.onReset();
            return null;
          },
        },
      },
      hooks: {
        drawClear: [],
        draw: [(u) => this.draw(u)],
        setCursor: [
          (u) => {
            const { left = -1, top = -1 } = u.cursor;
            if (left < 0) this.handlers.onCursor(null, null);
            else this.handlers.onCursor(u.posToVal(left, "x"), u.posToVal(top, "y"));
          },
        ],
        setSelect: [
          (u) => {
            const { left, width } = u.select;
            if (width < 4) return;
            this.handlers.onSelect([u.posToVal(left, "x"), u.posToVal(left + width, "x")]);
            u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
          },
        ],
      },
    };
  }

  private draw(u: uPlot): void {
    const { left, top, width, height } = u.bbox;
    const ratio = uPlot.pxRatio;
    const [low, high] = [u.scales["y"]?.min ?? 0, u.scales["y"]?.max ?? 1];
    const toX = linear(this.view[0], this.view[1], left, left + width);
    const isLog = this.model.isLog;
    const ends = isLog ? ([Math.log10(low), Math.log10(high)] as const) : ([low, high] as const);
    const plain = linear(ends[0], ends[1], top + height, top);
    const toY = isLog ? (y: number) => plain(Math.log10(y)) : plain;
    const area: Area = { ctx: u.ctx, left, top, width, height, ratio, view: this.view, toX, toY };
    u.ctx.save();
    u.ctx.beginPath();
    u.ctx.rect(left, top, width, height);
    u.ctx.clip();
    u.ctx.lineJoin = "round";
    this.model.paint(area);
    u.ctx.restore();
    this.handlers.onDraw({
      left: left / ratio,
      top: top / ratio,
      width: width / ratio,
      height: height / ratio,
      view: this.view,
      toX: (x) => toX(x) / ratio,
      toY: (y) => toY(y) / ratio,
    });
  }
}

/** Returns the texts of the y axis; on a log axis, uPlot leaves out (null) those without room. */
function tickTexts(u: uPlot, splits: number[], model: PlotModel): (string | null)[] {
  const scale = model.axisScale;
  const [low, high] = [(u.scales["y"]?.min ?? 0) * scale, (u.scales["y"]?.max ?? 1) * scale];
  const step = Math.abs((splits[1] ?? 0) - (splits[0] ?? 0)) * scale;
  const digits = model.isLog ? 0 : decimalsOf(step);
  const isBig = Math.max(Math.abs(low), Math.abs(high)) >= 10_000;
  return splits.map((value) => {
    if (value === null || value === undefined) return null;
    if (model.isLog) return formatShort(value * scale);
    const shown = value * scale;
    return isBig || digits > 5 ? formatShort(shown) : shown.toFixed(digits);
  });
}

/** Returns how many decimals a step needs, so that all ticks differ: 2 for 0.25. */
function decimalsOf(step: number): number {
  let digits = 0;
  while (digits < 8 && Math.abs(Math.round(step * 10 ** digits) - step * 10 ** digits) > 1e-6) digits++;
  return digits;
}

function linear(from: number, to: number, start: number, end: number): (value: number) => number {
  const slope = (end - start) / (to - from || 1);
  return (value) => start + (value - from) * slope;
}
