/** The records of the server: those of gymnast.api (records.ts, generated), and those of the studio itself. */
import type * as records from "./records";
import type { CrossPlayReport, RatingTable, RunEvent, RunSummary, TaskInfo, TaskOperation } from "./records";
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
}

/** One metric of a run. Its values are read in packed form, as typed arrays. */
export interface MetricSeries {
  run: string;
  key: string;
  x: ArrayLike<number>;
  mean: Values;
  /** Minimum of each bucket; equals `mean` if nothing was reduced. */
  low: Values;
  high: Values;
  /** Number of points before they were reduced. */
  total: number;
}

export interface CurveSource {
  run: string;
  cursor: number;
  attempt: number;
  rows: number;
}

export interface MetricCurves {
  x: string;
  range: [number, number] | null;
  series: MetricSeries[];
  runs: CurveSource[];
}

export interface RatingCurve {
  role: string;
  x: number[];
  rating: Values;
  low: Values;
  high: Values;
}

export interface RoleCurve {
  role: string;
  label: string;
  x: number[];
  y: Values;
  /** Ends of the 95 % intervals; empty if there are none. */
  low: number[];
  high: number[];
}

export interface DurationHistogram {
  role: string;
  edges: number[];
  counts: number[];
}

export interface SelfPlay {
  run: string;
  x: string;
  roles: string[];
  ratings: RatingCurve[];
  win_rates: RoleCurve[];
  outcomes: RoleCurve[];
  durations: DurationHistogram[];
  matrix: CrossPlayReport | null;
  players: RatingTable;
}

/** Operation -> its result. */
export interface Results extends Omit<records.Results, "curves"> {
  curves: MetricCurves;
  self_play: SelfPlay;
}

/** Operation -> its arguments. */
export interface Arguments extends Omit<records.Arguments, "curves"> {
  curves: { refs: string[]; names: string[]; x?: string; points?: number; low?: number; high?: number };
  self_play: { ref: string; x?: string };
}

export type Reads = Pick<Results, records.ReadOperation | "self_play">;

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
