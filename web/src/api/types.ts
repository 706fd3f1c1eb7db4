/** The records of the server: those of gymnast.api (records.ts, generated), and those of the studio itself. */
import type * as records from "./records";
import type { RunEvent, RunSummary, TaskInfo, TaskOperation } from "./records";
export type * from "./records";

export type Clock = "vec_steps" | "env_steps" | "frames" | "updates" | "rollouts" | "episodes" | "seconds";
export const CLOCKS: readonly Clock[] = ["vec_steps", "env_steps", "frames", "updates", "rollouts", "episodes", "seconds"];

/** A range; null is an open end. */
export type Span = readonly [number | null, number | null];

/** Values of a series; NaN or null where there is none. */
export type Values = ArrayLike<number | null>;

export interface Session {
  signed_in: boolean;
  read_only: boolean;
  allow_code: boolean;
  version: string;
  runs_dir: string;
  clock: Clock;
}

/** One metric of a run. Its values are read in packed form, as typed arrays; NaN where there is none. */
export interface MetricSeries extends Omit<records.MetricSeries, "x" | "mean" | "low" | "high"> {
  x: ArrayLike<number>;
  mean: Values;
  low: Values;
  high: Values;
}

export interface MetricCurves extends Omit<records.MetricCurves, "series"> {
  series: MetricSeries[];
}

/** Operation -> its result. */
export interface Results extends Omit<records.Results, "curves"> {
  curves: MetricCurves;
}

export type Reads = Pick<Results, records.ReadOperation>;

/** What a POST answers: the record of a change, the task that was started. */
export type Answers = { [K in keyof Results]: K extends TaskOperation ? TaskInfo : Results[K] };

/** The message of /api/stream/runs. */
export interface RunsMessage {
  changed: RunSummary[];
  removed: string[];
  total: number;
  /** Whether `changed` has all runs. */
  complete: boolean;
}

/** Positions in the streams of a run. Without `log`, the log is not followed. */
export interface Cursors {
  rows: number;
  attempt: number;
  events: number;
  /** Opaque: that of a page of `logs`, or of the last message. */
  log?: string;
}

export type MetricRow = Record<string, number>;

/** What /api/stream/run/ID reports. */
export interface RunHandlers {
  rows?: (rows: MetricRow[], cursor: number) => void;
  events?: (events: RunEvent[], cursor: number) => void;
  summary?: (summary: RunSummary) => void;
  log?: (text: string, cursor: string) => void;
  /** A resume replaced rows: everything must be read again. The stream continues from the new cursors. */
  reset?: (attempt: number) => Cursors | Promise<Cursors>;
  /** The run was deleted; nothing follows. */
  gone?: () => void;
}
