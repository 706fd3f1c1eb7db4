/** The table of a comparison: one row per side, from the record of `compare`. */
import type { ComparedGroup, ComparedRun, Comparison, Improvement } from "../../api/types";
import { sortedBy } from "../../ui/sorting";
import { judge, judgeMeasure, UNKNOWN, type Direction, type Estimate, type Judgment } from "./judgment";
import type { Side } from "./sides";
import { improvementOver } from "./verdict";

export type ColumnId = "final" | "best" | "area" | "steps" | "seconds" | "iqm" | "probability" | "n";

export interface Column {
  id: ColumnId;
  title: string;
  better: Direction;
  help: string;
}

export const COLUMNS: readonly Column[] = [
  { id: "iqm", title: "IQM", better: "higher", help: "Interquartile mean of the final scores over seeds, with its 95 % stratified-bootstrap interval." },
  { id: "probability", title: "P(better)", better: "", help: "Probability that a seed of this side scores more than one of the baseline, with its 95 % interval." },
  { id: "final", title: "final", better: "higher", help: "Final score; for a group, the mean over seeds. Interval: 95 %, over episodes for a run and over seeds for a group." },
  { id: "area", title: "area", better: "higher", help: "Mean height of the evaluation curve over the range that all curves cover." },
  { id: "steps", title: "goal steps", better: "lower", help: "Env steps until the lower bound of an evaluation reached the threshold; for a group, the mean over the seeds that reached it." },
  { id: "seconds", title: "goal time", better: "lower", help: "Training time until the lower bound of an evaluation reached the threshold; for a group, the mean over the seeds that reached it." },
  { id: "best", title: "best", better: "higher", help: "Highest evaluation return; for a group, the mean over seeds." },
  { id: "n", title: "n", better: "", help: "Number of seeds with a final score." },
];

export interface SideResult {
  side: Side;
  cells: Record<ColumnId, Estimate>;
  judgments: Record<ColumnId, Judgment>;
  /** Number of seeds that reached the threshold. */
  reached: number;
  improvement: Improvement | null;
  /** Whether no run has finished, so that the latest evaluations count as final scores. */
  isProvisional: boolean;
}

/** Column -> measure that the record tests for it. */
const MEASURES: Partial<Record<ColumnId, string>> = {
  best: "best",
  area: "area",
  steps: "steps_to_threshold",
  seconds: "seconds_to_threshold",
};

const NONE: Estimate = { value: null, low: null, high: null };

/** Largest number of sides of which `compare` tests every pair; else each is tested against the first. */
const MAX_PAIRED = 12;

/** Returns the arguments of `compare`. The baseline is last, so that the differences are of the others minus the
 * baseline, as on the page; among many sides it is first, which is the one that all are tested against. */
export function compareArguments(sides: readonly Side[], baseline: string, x: string): { refs: string[]; x: string } {
  const others = sides.map((side) => side.ref).filter((ref) => ref !== baseline);
  const refs = sides.length > MAX_PAIRED ? [baseline, ...others] : [...others, baseline];
  return { refs, x };
}

/** Returns whether a comparison has all of these sides: while another one is read, the old one may not. */
export function isAbout(comparison: Comparison, sides: readonly Side[]): boolean {
  const names = new Set(comparison.groups.map((group) => group.name));
  if (names.size === 0) for (const run of comparison.runs) names.add(run.id);
  return names.size === sides.length && sides.every((side) => names.has(side.ref));
}

/** Returns the rows of the table in the order of `sides`. `baseline`: reference of the side to compare with. */
export function sideResults(comparison: Comparison, sides: readonly Side[], baseline: string): SideResult[] {
  const runs = new Map(comparison.runs.map((run) => [run.id, run]));
  const groups = new Map(comparison.groups.map((group) => [group.name, group]));
  const rows = sides.map((side) => {
    const members = side.runs.flatMap((id) => runs.get(id) ?? []);
    const improvement = side.ref === baseline ? null : improvementOver(comparison.improvements, side.ref, baseline);
    const cells = cellsOf(side, members, groups.get(side.ref) ?? null, improvement);
    const reached = members.filter((run) => (run.learning?.steps_to_threshold ?? null) !== null).length;
    return { side, cells, reached, improvement, isProvisional: groups.get(side.ref)?.provisional ?? false };
  });
  const reference = rows.find((row) => row.side.ref === baseline);
  return rows.map((row) => ({ ...row, judgments: judgmentsOf(row, reference) }));
}

/** Returns the columns in which some side has a value, and the final score. */
export function filledColumns(rows: readonly SideResult[]): Column[] {
  return COLUMNS.filter(({ id }) => id === "final" || rows.some((row) => row.cells[id].value !== null));
}

/** Returns the rows ordered by a column; rows without a value come last in both directions. */
export function sortResults(rows: readonly SideResult[], column: ColumnId | "name", descending: boolean): SideResult[] {
  return sortedBy(rows, (row) => (column === "name" ? row.side.label : row.cells[column].value), descending);
}

function cellsOf(
  side: Side,
  members: readonly ComparedRun[],
  group: ComparedGroup | null,
  improvement: Improvement | null,
): Record<ColumnId, Estimate> {
  // Between single runs it is 0 or 1, which looks certain and means nothing.
  const isTested = improvement !== null && improvement.exceeds_noise !== null;
  const probability = isTested ? { value: improvement.probability, low: improvement.low, high: improvement.high } : NONE;
  const only = members[0];
  if (side.runs.length === 1 && only) {
    return {
      final: { value: only.final, low: finite(only.score?.low), high: finite(only.score?.high) },
      best: exact(only.best),
      area: exact(only.area),
      steps: exact(only.learning?.steps_to_threshold),
      seconds: exact(only.learning?.seconds_to_threshold),
      iqm: group?.iqm ? interval(group.iqm) : NONE,
      probability,
      n: exact(only.final === null ? 0 : 1),
    };
  }
  return {
    final: interval(group?.score),
    best: interval(group?.best),
    area: interval(group?.area),
    steps: interval(group?.steps_to_threshold),
    seconds: interval(group?.seconds_to_threshold),
    iqm: interval(group?.iqm),
    probability,
    n: exact(group?.scored ?? 0),
  };
}

function judgmentsOf(
  row: Omit<SideResult, "judgments">,
  reference: Omit<SideResult, "judgments"> | undefined,
): Record<ColumnId, Judgment> {
  const judgments = {} as Record<ColumnId, Judgment>;
  for (const { id, better } of COLUMNS) {
    const isReference = !reference || reference.side.ref === row.side.ref;
    // Returns of different environments are on different scales.
    const isComparable = row.improvement === null || row.improvement.probability !== null;
    // The bootstrap tests the difference itself, which is sharper than comparing two intervals.
    const measure = row.improvement?.measures.find((one) => one.measure === MEASURES[id]);
    const tested = id === "iqm" ? (row.improvement?.exceeds_noise ?? null) : null;
    if (isReference || !isComparable) judgments[id] = UNKNOWN;
    else if (measure) judgments[id] = judgeMeasure(measure, row.side.ref);
    else judgments[id] = judge(row.cells[id], reference.cells[id], better, tested);
  }
  return judgments;
}

function interval(value: { mean: number; low: number | null; high: number | null } | null | undefined): Estimate {
  return value ? { value: value.mean, low: finite(value.low), high: finite(value.high) } : NONE;
}

function exact(value: number | null | undefined): Estimate {
  return { value: value ?? null, low: null, high: null };
}

function finite(value: number | null | undefined): number | null {
  return value !== null && value !== undefined && Number.isFinite(value) ? value : null;
}
