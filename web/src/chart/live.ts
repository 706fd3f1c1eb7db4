/** Curves that grow while a run trains: rows of the stream are appended without copying what is there. */
import type { MetricCurves, MetricRow, MetricSeries, Values } from "../api/types";

/** An array of numbers that grows. */
class Numbers {
  private buffer: Float64Array;
  private count: number;

  constructor(values: Values) {
    this.count = values.length;
    this.buffer = new Float64Array(Math.max(64, 2 * this.count));
    for (let i = 0; i < this.count; i++) this.buffer[i] = values[i] ?? NaN;
  }

  push(value: number): void {
    if (this.count === this.buffer.length) {
      const larger = new Float64Array(2 * this.count);
      larger.set(this.buffer);
      this.buffer = larger;
    }
    this.buffer[this.count++] = value;
  }

  /** The last value; NaN if there is none. */
  get last(): number {
    return this.count ? (this.buffer[this.count - 1] ?? NaN) : NaN;
  }

  get length(): number {
    return this.count;
  }

  /** The values so far: a view, not a copy. */
  view(): Float64Array {
    return this.buffer.subarray(0, this.count);
  }
}

interface Growing {
  x: Numbers;
  mean: Numbers;
  low: Numbers;
  high: Numbers;
  total: number;
}

/** The curves of one run. */
export class LiveCurves {
  private readonly growing = new Map<string, Growing>();
  private appended = 0;

  constructor(
    private readonly run: string,
    /** The clock on the x axis. */
    private readonly clock: string,
    curves: Pick<MetricCurves, "series">,
  ) {
    for (const series of curves.series) {
      if (series.run !== run) continue;
      const { x, mean, low, high, total } = series;
      this.growing.set(series.key, { x: new Numbers(x), mean: new Numbers(mean), low: new Numbers(low), high: new Numbers(high), total });
    }
  }

  /** Appends rows of the stream. Returns the keys that have new values. Metrics that appear for the first time
   * are added; a row whose position is before the end belongs to it, as a late evaluation does, and is put
   * there. */
  append(rows: readonly MetricRow[]): Set<string> {
    const changed = new Set<string>();
    for (const row of rows) {
      const x = row[`clock/${this.clock}`];
      if (x === undefined) continue;
      for (const [key, value] of Object.entries(row)) {
        if (key.startsWith("clock/")) continue;
        let series = this.growing.get(key);
        if (!series) {
          series = { x: new Numbers([]), mean: new Numbers([]), low: new Numbers([]), high: new Numbers([]), total: 0 };
          this.growing.set(key, series);
        }
        // The x of a series is in order; a value of an earlier position is drawn at the last one.
        series.x.push(series.x.length && x < series.x.last ? series.x.last : x);
        series.mean.push(value);
        series.low.push(value);
        series.high.push(value);
        series.total++;
        this.appended++;
        changed.add(key);
      }
    }
    return changed;
  }

  /** Whether so many values were appended that reading the curves again, reduced, is better. */
  isFull(points: number): boolean {
    return this.appended > points * Math.max(1, this.growing.size);
  }

  get keys(): string[] {
    return [...this.growing.keys()];
  }

  /** Returns a metric as it is now: views of the growing arrays. */
  series(key: string): MetricSeries | undefined {
    const found = this.growing.get(key);
    if (!found) return undefined;
    const { x, mean, low, high, total } = found;
    return { run: this.run, key, x: x.view(), mean: mean.view(), low: low.view(), high: high.view(), total };
  }
}
