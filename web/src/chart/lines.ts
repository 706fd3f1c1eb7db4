/** Drawing of lines and bands on a canvas. */
import type { Values } from "../api/types";
import type { Area } from "./model";
import { indicesIn } from "./view";

function isGap(value: number | null | undefined, isLog: boolean): value is null | undefined {
  return value === null || value === undefined || !Number.isFinite(value) || (isLog && value <= 0);
}

export interface LineStyle {
  color: string;
  width: number;
  alpha: number;
  dash?: number[] | undefined;
}

/** Draws a line; gaps interrupt it, and a point between gaps is a dot. With many points per pixel, only the
 * first, lowest, highest and last of each pixel are drawn, which looks the same. */
export function drawLine(area: Area, x: ArrayLike<number>, y: Values, isLog: boolean, style: LineStyle): void {
  const { ctx, ratio, toX, toY } = area;
  const [first, end] = indicesIn(x, area.view);
  ctx.globalAlpha = style.alpha;
  ctx.strokeStyle = style.color;
  ctx.lineWidth = style.width * ratio;
  ctx.setLineDash(style.dash ? style.dash.map((length) => length * ratio) : []);
  ctx.beginPath();
  if (end - first > 4 * area.width) traceDense(area, x, y, isLog, first, end);
  else {
    const dots: number[] = [];
    let isOpen = false;
    for (let i = first; i < end; i++) {
      const value = y[i];
      if (isGap(value, isLog)) {
        isOpen = false;
        continue;
      }
      const px = toX(x[i] ?? 0);
      const py = toY(value);
      if (isOpen) ctx.lineTo(px, py);
      else {
        ctx.moveTo(px, py);
        if (i + 1 >= end || isGap(y[i + 1], isLog)) dots.push(px, py);
      }
      isOpen = true;
    }
    drawDots(area, dots, style.color);
  }
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

function drawDots({ ctx, ratio }: Area, dots: number[], color: string): void {
  if (!dots.length) return;
  ctx.fillStyle = color;
  const size = 3 * ratio;
  for (let i = 0; i < dots.length; i += 2) ctx.fillRect((dots[i] ?? 0) - size / 2, (dots[i + 1] ?? 0) - size / 2, size, size);
}

function traceDense(area: Area, x: ArrayLike<number>, y: Values, isLog: boolean, first: number, end: number): void {
  const { ctx, toX, toY } = area;
  let column = NaN;
  let [low, high, last] = [0, 0, 0];
  let isOpen = false;
  const flush = () => {
    if (Number.isNaN(column)) return;
    ctx.lineTo(column, low);
    ctx.lineTo(column, high);
    ctx.lineTo(column, last);
  };
  for (let i = first; i < end; i++) {
    const value = y[i];
    if (isGap(value, isLog)) {
      flush();
      column = NaN;
      isOpen = false;
      continue;
    }
    const px = Math.round(toX(x[i] ?? 0));
    const py = toY(value);
    if (px !== column) {
      flush();
      if (!isOpen) ctx.moveTo(px, py);
      isOpen = true;
      column = px;
      low = high = py;
    }
    low = Math.min(low, py);
    high = Math.max(high, py);
    last = py;
  }
  flush();
}

/** Fills the area between two series. */
export function drawBand(area: Area, x: ArrayLike<number>, low: Values, high: Values, isLog: boolean, color: string, alpha: number): void {
  const { ctx, toX, toY } = area;
  const [first, end] = indicesIn(x, area.view);
  ctx.globalAlpha = alpha;
  ctx.fillStyle = color;
  ctx.beginPath();
  let start = -1;
  for (let i = first; i <= end; i++) {
    const isMissing = i === end || isGap(low[i], isLog) || isGap(high[i], isLog);
    if (!isMissing) {
      if (start < 0) start = i;
      continue;
    }
    if (start < 0) continue;
    for (let j = start; j < i; j++) {
      const px = toX(x[j] ?? 0);
      if (j === start) ctx.moveTo(px, toY(high[j] as number));
      else ctx.lineTo(px, toY(high[j] as number));
    }
    for (let j = i - 1; j >= start; j--) ctx.lineTo(toX(x[j] ?? 0), toY(low[j] as number));
    ctx.closePath();
    start = -1;
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}
