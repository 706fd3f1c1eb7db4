/** The charts of a run as signals: read once, then extended by the rows that arrive. */
import { useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, asApiError, read } from "../../../api/client";
import { onRecovery } from "../../../api/connection";
import type { ChartData, Clock, MetricRow } from "../../../api/types";
import type { RunModel } from "../model";
import { Throttle } from "../parts/throttle";
import { ClockAxis } from "./axis";
import { appendRows, extendAxis, hasNewKeys } from "./live";

/** After this many rows, charts are read again: the server averages rows, so that they do not grow without limit. */
const RELOAD_ROWS = 600;
/** Charts are read again at most this often, in milliseconds. */
const RELOAD_PAUSE = 2000;
/** Rows that arrive faster than this are drawn together, in milliseconds. */
const DRAW_PAUSE = 200;

export interface LiveCharts {
  /** The charts; undefined before they are read. Charts without new points stay the same objects. */
  charts: ReadonlySignal<readonly ChartData[] | undefined>;
  axis: ReadonlySignal<ClockAxis>;
  error: ReadonlySignal<ApiError | undefined>;
  /** Changes when rows were replaced or other metrics appeared: everything that was read is old. */
  version: ReadonlySignal<number>;
  retry(): void;
}

/** Returns the charts over a clock. `x`: another clock reads them again, and the old ones stay until then. */
export function useCharts(model: RunModel, x: Clock): LiveCharts {
  const charts = useSignal<readonly ChartData[] | undefined>(undefined);
  const axis = useSignal(new ClockAxis());
  const error = useSignal<ApiError | undefined>(undefined);
  const version = useSignal(0);
  const retries = useSignal(0);
  const generation = model.generation.value;
  useEffect(() => {
    const loader = new ChartLoader(model, x, { charts, axis, error, version });
    void loader.load();
    const ends = [model.onRows((rows) => loader.add(rows)), onRecovery(() => void loader.load())];
    return () => {
      ends.forEach((end) => end());
      loader.stop();
    };
  }, [model, x, generation, retries.value]);
  return { charts, axis, error, version, retry: () => retries.value++ };
}

interface Target {
  charts: Signal<readonly ChartData[] | undefined>;
  axis: Signal<ClockAxis>;
  error: Signal<ApiError | undefined>;
  version: Signal<number>;
}

class ChartLoader {
  private readonly known = new Set<string>();
  private readonly reloads = new Throttle(RELOAD_PAUSE, () => void this.load());
  private waiting: MetricRow[] = [];
  private readonly draws = new Throttle(DRAW_PAUSE, () => this.flush());
  private added = 0;
  private ready = false;
  private stopped = false;

  constructor(
    private readonly model: RunModel,
    private readonly x: Clock,
    private readonly target: Target,
  ) {}

  async load(): Promise<void> {
    const { id } = this.model;
    const first = !this.ready;
    try {
      await this.model.positioned;
      const [charts, axis] = await Promise.all([read("charts", { ref: id, x: this.x }), readAxis(id, this.x)]);
      if (this.stopped) return;
      extendAxis(axis, this.model.recent, this.x);
      hasNewKeys(this.model.recent, this.known);
      charts.forEach((chart) => chart.series.forEach((line) => this.known.add(line.key)));
      this.target.axis.value = axis;
      this.target.charts.value = charts.map((chart) => appendRows(chart, this.model.recent, axis));
      this.target.error.value = undefined;
      this.ready = true;
      this.added = 0;
      if (first) this.target.version.value++;
    } catch (error) {
      if (!this.stopped) this.target.error.value = asApiError(error);
    }
  }

  /** Takes rows: the first one is drawn at once, those that follow quickly are drawn together. */
  add(rows: readonly MetricRow[]): void {
    this.waiting.push(...rows);
    this.draws.soon();
  }

  stop(): void {
    this.stopped = true;
    this.draws.stop();
    this.reloads.stop();
  }

  private flush(): void {
    const rows = this.waiting;
    this.waiting = [];
    const charts = this.target.charts.peek();
    if (!this.ready || !charts) return; // `load` takes them from the model
    const axis = this.target.axis.peek();
    extendAxis(axis, rows, this.x);
    this.target.charts.value = charts.map((chart) => appendRows(chart, rows, axis));
    this.added += rows.length;
    if (hasNewKeys(rows, this.known) || this.added > RELOAD_ROWS) this.reloads.soon();
  }
}

/** Reads which env steps belong to which position of the x axis. */
async function readAxis(id: string, x: Clock): Promise<ClockAxis> {
  const curves = await read("curves", { refs: [id], names: ["clock/env_steps"], x }).catch((error: unknown) => {
    // A run without rows has no such metric.
    if (error instanceof ApiError && error.status === 400) return undefined;
    throw error;
  });
  const series = curves?.series[0];
  return series ? new ClockAxis(Array.from(series.mean, Number), series.x) : new ClockAxis();
}

