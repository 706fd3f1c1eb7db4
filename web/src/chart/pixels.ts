/** Draws very many lines into a pixel buffer: a fraction of the time that the canvas needs to stroke paths, so
 * that zooming a chart of hundreds of runs stays fluid. Lines have no smooth edges and no dashes. */
import type { Values } from "../api/types";
import type { Area } from "./model";
import { indicesIn } from "./view";

export class Pixels {
  private bytes = new Uint8ClampedArray(0);
  data = new Uint32Array(0);
  width = 0;
  height = 0;

  /** Empties the buffer and sets its size. Its memory is used again. */
  reset(width: number, height: number): void {
    const size = width * height;
    if (this.data.length < size) {
      const buffer = new ArrayBuffer(size * 4);
      this.bytes = new Uint8ClampedArray(buffer);
      this.data = new Uint32Array(buffer);
    } else this.data.fill(0, 0, size);
    this.width = width;
    this.height = height;
  }

  /** Fills a column from one height down to another, both included. */
  run(x: number, top: number, bottom: number, color: number): void {
    const { data, width, height } = this;
    if (!(x >= 0 && x < width) || bottom < -0.5 || top > height - 0.5) return;
    const first = top > 0 ? (top + 0.5) | 0 : 0;
    const last = bottom < height - 1 ? (bottom + 0.5) | 0 : height - 1;
    const end = last * width + x;
    for (let i = first * width + x; i <= end; i += width) data[i] = color;
  }

  /** Draws a line through points: in each column, from where it enters to where it leaves. NaN is a gap. */
  line(xs: Float64Array, ys: Float64Array, count: number, thickness: number, color: number): void {
    const extra = (thickness - 1) / 2;
    for (let i = 0; i < count; i++) {
      const x = xs[i] as number;
      const y = ys[i] as number;
      if (y !== y) continue;
      const nextX = i + 1 < count ? (xs[i + 1] as number) : NaN;
      const nextY = i + 1 < count ? (ys[i + 1] as number) : NaN;
      const first = Math.max(0, Math.round(x));
      if (nextY !== nextY) {
        this.run(first, y - extra, y + extra, color);
        continue;
      }
      const last = Math.min(this.width, Math.round(nextX));
      if (first >= last) {
        this.run(first, Math.min(y, nextY) - extra, Math.max(y, nextY) + extra, color);
        continue;
      }
      const slope = (nextY - y) / (nextX - x);
      let from = y + slope * Math.max(0, first - x);
      for (let column = first; column < last; column++) {
        const to = column + 1 >= nextX ? nextY : y + slope * (column + 1 - x);
        if (from < to) this.run(column, from - extra, to + extra, color);
        else this.run(column, to - extra, from + extra, color);
        from = to;
      }
    }
  }

  /** The buffer as a picture. */
  image(): ImageData {
    return new ImageData(this.bytes.subarray(0, this.width * this.height * 4), this.width, this.height);
  }
}

export interface PixelSeries {
  x: ArrayLike<number>;
  y: Values;
  low: Values | undefined;
  high: Values | undefined;
  color: string;
  alpha: number;
}

const pixels = new Pixels();
let scratch: HTMLCanvasElement | null = null;
let xs = new Float64Array(256);
let ys = new Float64Array(256);

/** Draws series into the area: the extremes of all first, then the lines. */
export function drawMany(area: Area, series: readonly PixelSeries[], isLog: boolean): void {
  const [width, height] = [Math.floor(area.width), Math.floor(area.height)];
  if (width < 1 || height < 1) return;
  pixels.reset(width, height);
  const { toX, toY, left, top } = area;
  for (const { x, low, high, color } of series) {
    if (!low || !high) continue;
    const ink = packed(color, 0.4);
    const [first, end] = indicesIn(x, area.view);
    for (let i = first; i < end; i++) {
      const lowest = low[i];
      const highest = high[i];
      if (typeof lowest !== "number" || typeof highest !== "number" || !(lowest < highest) || (isLog && lowest <= 0)) continue;
      pixels.run(Math.round(toX(x[i] as number) - left), toY(highest) - top, toY(lowest) - top, ink);
    }
  }
  for (const { x, y, color, alpha } of series) {
    const [first, end] = indicesIn(x, area.view);
    const count = Math.max(0, end - first);
    if (xs.length < count) [xs, ys] = [new Float64Array(2 * count), new Float64Array(2 * count)];
    for (let i = 0; i < count; i++) {
      const value = y[first + i];
      const isMissing = value === null || value === undefined || !Number.isFinite(value) || (isLog && value <= 0);
      xs[i] = toX(x[first + i] as number) - left;
      ys[i] = isMissing ? NaN : toY(value) - top;
    }
    pixels.line(xs, ys, count, Math.max(1, Math.round(area.ratio)), packed(color, alpha));
  }
  scratch ??= document.createElement("canvas");
  if (scratch.width < width || scratch.height < height) {
    scratch.width = Math.max(width, scratch.width);
    scratch.height = Math.max(height, scratch.height);
  }
  scratch.getContext("2d")?.putImageData(pixels.image(), 0, 0);
  area.ctx.drawImage(scratch, 0, 0, width, height, Math.round(area.left), Math.round(area.top), width, height);
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Returns `#rrggbb` with an opacity as one number, in the order of the bytes of ImageData. */
export function packed(color: string, alpha: number): number {
  const rgb = parseInt(color.slice(1), 16);
  const [red, green, blue, opacity] = [(rgb >> 16) & 255, (rgb >> 8) & 255, rgb & 255, Math.round(alpha * 255)];
  return isLittleEndian
    ? ((opacity << 24) | (blue << 16) | (green << 8) | red) >>> 0
    : ((red << 24) | (green << 16) | (blue << 8) | opacity) >>> 0;
}
