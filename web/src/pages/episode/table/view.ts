/** Rows and columns of the step table: order, filter, widths, visible part. Pure functions. */
import { sortedBy, type Sort } from "../../../ui/sorting";
import type { Cell, ColumnInfo } from "../types";
import type { Lookup, RowTest } from "./filter";

export const ROW_HEIGHT = 24;
/** Widths of a letter of the names and of a digit, in pixels. */
const LETTER = 7;
const DIGIT = 7;
const WIDEST = 200;
const SAMPLED = 25;

/** Returns the steps that are shown, in order. */
export function shownSteps(length: number, test: RowTest | null, sort: Sort | undefined, lookup: Lookup): Int32Array {
  const steps: number[] = [];
  for (let step = 0; step < length; step++) if (test === null || test(step)) steps.push(step);
  if (!sort) return Int32Array.from(steps);
  const values = lookup(sort.key);
  return Int32Array.from(sortedBy(steps, (step) => sortValue(values?.[step]), sort.descending));
}

function sortValue(value: Cell | undefined): number | string | null {
  return typeof value === "boolean" ? Number(value) : (value ?? null);
}

export interface Placed {
  column: ColumnInfo;
  left: number;
  width: number;
  isText: boolean;
}

/** Returns columns with their places. A column keeps its width, whatever rows are visible. */
export function placedColumns(columns: readonly ColumnInfo[], lookup: Lookup, text: (value: Cell | undefined) => string): Placed[] {
  let left = 0;
  return columns.map((column) => {
    const values = lookup(column.name) ?? [];
    const isText = typeof values[0] === "string";
    const needed = Math.max(headText(column).length * LETTER, longest(values, text) * DIGIT);
    const width = Math.min(WIDEST, Math.max(44, Math.ceil(needed) + 24));
    const placed = { column, left, width, isText };
    left += width;
    return placed;
  });
}

/** Returns the length of the longest text in a small sample of the values with the extremes: formatting all of a long
 * episode would delay its page. */
function longest(values: readonly Cell[], text: (value: Cell | undefined) => string): number {
  const every = Math.max(1, Math.floor(values.length / SAMPLED));
  let most = 0;
  for (let i = 0; i < values.length; i += every) most = Math.max(most, text(values[i]).length);
  let [low, high] = [0, 0];
  for (const value of values) {
    if (typeof value !== "number") continue;
    if (value < low) low = value;
    else if (value > high) high = value;
  }
  return Math.max(most, text(low).length, text(high).length);
}

/** Returns the text at the head of a column: its name without the prefix of observations, which would be too long. */
export function headText({ name }: Pick<ColumnInfo, "name">): string {
  return name.startsWith("obs/") ? name.slice(4) : name;
}

const ORDER: ColumnInfo["group"][] = ["action", "reward", "value", "policy", "observation", "input", "end"];

/** Returns columns in the order in which people read them: the step, what was done and what it gave, then the rest. */
export function readingOrder(columns: readonly ColumnInfo[]): ColumnInfo[] {
  const rank = (column: ColumnInfo) => (column.name === "step" ? -1 : ORDER.indexOf(column.group));
  return [...columns].sort((a, b) => rank(a) - rank(b));
}

/** Returns the columns that a view shows, some more on both sides. `left`: pixels of the table left of the view. */
export function visibleColumns(placed: readonly Placed[], left: number, width: number, extra = 120): Placed[] {
  return placed.filter((column) => column.left + column.width > left - extra && column.left < left + width + extra);
}

/** Returns the row of a step, or where it would be; steps are in order if they are not sorted. */
export function rowOf(steps: Int32Array, step: number, isSorted: boolean): { row: number; isThere: boolean } {
  if (isSorted) {
    const row = steps.indexOf(step);
    return { row: Math.max(0, row), isThere: row >= 0 };
  }
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) < step) low = middle + 1;
    else high = middle;
  }
  return { row: Math.min(low, Math.max(0, steps.length - 1)), isThere: steps[low] === step };
}

/** Returns where to scroll so that a row is in view: nowhere if it is, else so that it is in the middle. */
export function scrolledTo(row: number, top: number, view: number, rows: number): number {
  const start = row * ROW_HEIGHT;
  if (start >= top && start + ROW_HEIGHT <= top + view) return top;
  const middle = start + ROW_HEIGHT / 2 - view / 2;
  return Math.round(Math.max(0, Math.min(rows * ROW_HEIGHT - view, middle)));
}
