/** Sorting of table rows. Pure functions. */

export interface Sort {
  /** Key of the column. */
  key: string;
  descending: boolean;
}

/** A list compares its numbers in order. Its first one says how comparable a row is: the most comparable rows come
 * first in both directions. */
export type SortValue = number | string | readonly number[] | null | undefined;
type Present = Exclude<SortValue, null | undefined>;

/** Returns rows in order of a value; missing values and NaN are last in both directions, equal ones keep their
 * order. */
export function sortedBy<T>(rows: readonly T[], value: (row: T) => SortValue, descending: boolean): T[] {
  const entries = rows.map((row, index) => ({ row, index, value: present(value(row)) }));
  const sign = descending ? -1 : 1;
  entries.sort((a, b) => {
    if (a.value === null || b.value === null) {
      return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
    }
    return comparability(b.value) - comparability(a.value) || sign * compared(a.value, b.value) || a.index - b.index;
  });
  return entries.map(({ row }) => row);
}

/** Returns the sort after a click on a column: its first direction, then the other one. */
export function nextSort(sort: Sort | undefined, key: string, descendingFirst: boolean): Sort {
  if (sort?.key !== key) return { key, descending: descendingFirst };
  return { key, descending: !sort.descending };
}

function present(value: SortValue): Present | null {
  return value === undefined || value === null || Number.isNaN(value) ? null : value;
}

function comparability(value: Present): number {
  return typeof value === "object" ? (value[0] ?? 0) : 0;
}

function compared(a: Present, b: Present): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "object" && typeof b === "object") {
    return a.reduce((difference, number, i) => difference || number - (b[i] ?? 0), 0);
  }
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
