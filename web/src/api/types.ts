/** The records of the server: those of gymnast.api (records.ts, generated), and those of the studio itself. */
import type { Arguments as GeneratedArguments, ConfigProblem, CrossPlayReport, ChangeOperation, ReadOperation, Results as GeneratedResults, RatingTable, RunEvent, TaskInfo, TaskOperation } from "./records";
import type * as records from "./records";
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

export interface RunSummary extends records.RunSummary {
  /** Used share of the budget, 0 to 1; null without a budget. */
  progress: number | null;
  remaining_seconds: number | null;
  steps_per_second: number | null;
  /** Env steps and mean return of evaluations, at most 32 points. */
  curve: [number, number][];
  best_score: number | null;
  group_name: string;
  variant: string;
}

export interface RunPage extends Omit<records.RunPage, "runs"> {
  runs: RunSummary[];
}

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

export interface SeedSeries {
  key: string;
  x: number[];
  mean: Values;
  low: Values;
  high: Values;
  n: number[];
}

export interface SeedGroup {
  name: string;
  runs: string[];
  series: SeedSeries[];
}

export interface SeedCurves {
  x: string;
  groups: SeedGroup[];
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

export interface FormField {
  key: string;
  kind: "number" | "integer" | "text" | "choice" | "switch" | "list" | "mapping";
  schedulable: boolean;
  doc: string;
  value: unknown;
  default: unknown;
  origin: string;
  choices: string[];
  live: boolean;
  applies: boolean;
  low: number | null;
  high: number | null;
}

export interface FormSection {
  name: string;
  doc: string;
  fields: FormField[];
}

export interface SettingsForm {
  target: string;
  title: string;
  algorithms: string[];
  sections: FormSection[];
  problems: ConfigProblem[];
  unknown: string[];
}

/** One side of a comparison, `a`, compared with another, `b`, by the scores of their seeds. */
export interface Improvement {
  a: string;
  b: string;
  /** Probability that a run of `a` scores higher than a run of `b`; null if they cannot be compared. */
  probability: number | null;
  low: number | null;
  high: number | null;
  /** IQM of `a` minus IQM of `b`; null for several environments. */
  difference: records.MeanInterval | null;
  better: string | null;
  /** null with fewer than two runs on a side. */
  exceeds_noise: boolean | null;
  /** Why `exceeds_noise` is unknown; empty if it is known. */
  problem: string;
}

export interface ComparedRun extends records.ComparedRun {
  final: number | null;
  best: number | null;
}

export interface SeedMeanCurve extends records.EvaluationCurve {
  low: Values;
  high: Values;
  n: number[];
}

export interface ComparedGroup extends Omit<records.ComparedGroup, "iqm" | "curve"> {
  iqm: records.MeanInterval | null;
  best: records.MeanInterval | null;
  seconds_to_threshold: records.MeanInterval | null;
  /** Whether no run has finished, so that the latest evaluations count. */
  provisional: boolean;
  curve: SeedMeanCurve;
}

export interface Comparison extends Omit<records.Comparison, "runs" | "groups"> {
  runs: ComparedRun[];
  groups: ComparedGroup[];
  improvements: Improvement[];
}

/** Operation -> its result. */
export interface Results extends Omit<GeneratedResults, "runs" | "curves" | "compare"> {
  runs: RunPage;
  curves: MetricCurves;
  compare: Comparison;
  seed_curves: SeedCurves;
  self_play: SelfPlay;
  settings_form: SettingsForm;
}

/** Operation -> its arguments. */
export interface Arguments extends Omit<GeneratedArguments, "curves"> {
  curves: { refs: string[]; names: string[]; x?: string; points?: number; low?: number; high?: number };
  seed_curves: { refs: string[]; names: string[]; x?: string; points?: number };
  self_play: { ref: string; x?: string };
  settings_form: { target: string; algo?: string | null; overrides?: string[] };
}

export type Readable = ReadOperation | "seed_curves" | "self_play" | "settings_form";
export type Reads = Pick<Results, Readable>;

/** What a POST answers: the record of a change, the task that was started. */
export type Answers = { [K in keyof Results]: K extends TaskOperation ? TaskInfo : Results[K] };
export type { ChangeOperation, TaskOperation };

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
