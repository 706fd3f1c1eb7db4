/** Sorting of table rows. Pure functions. */

export interface Sort {
  /** Key of the column. */
  key: string;
  descending: boolean;
}

export type SortValue = number | string | null | undefined;

/** Returns rows in order of a value; missing values and NaN are last in both directions, equal ones keep their
 * order. */
export function sortedBy<T>(rows: readonly T[], value: (row: T) => SortValue, descending: boolean): T[] {
  const entries = rows.map((row, index) => ({ row, index, value: present(value(row)) }));
  const sign = descending ? -1 : 1;
  entries.sort((a, b) => {
    if (a.value === null || b.value === null) {
      return a.value === b.value ? a.index - b.index : a.value === null ? 1 : -1;
    }
    return sign * compared(a.value, b.value) || a.index - b.index;
  });
  return entries.map(({ row }) => row);
}

/** Returns the sort after a click on a column: its first direction, then the other one. */
export function nextSort(sort: Sort | undefined, key: string, descendingFirst: boolean): Sort {
  if (sort?.key !== key) return { key, descending: descendingFirst };
  return { key, descending: !sort.descending };
}

function present(value: SortValue): number | string | null {
  return value === undefined || value === null || Number.isNaN(value) ? null : value;
}

function compared(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}
