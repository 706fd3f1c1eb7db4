/** Sorting by a column in which values may be missing. */

export type SortValue = number | string | null;

/** Compares texts as people count: `seed-2` comes before `seed-10`. */
const texts = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });

/** Compares two values. Missing ones (null, NaN) come last in both directions. */
export function compareValues(a: SortValue, b: SortValue, descending: boolean): number {
  const missing = Number(isMissing(a)) - Number(isMissing(b));
  if (missing !== 0 || isMissing(a)) return missing;
  const order =
    typeof a === "number" && typeof b === "number" ? a - b || 0 : texts.compare(String(a), String(b));
  return descending ? -order : order;
}

/** Returns the items in the order of their values; items with equal values keep their order. */
export function sorted<T>(
  items: readonly T[],
  value: (item: T) => SortValue,
  descending: boolean,
): T[] {
  const keyed = items.map((item) => ({ item, value: value(item) }));
  keyed.sort((a, b) => compareValues(a.value, b.value, descending));
  return keyed.map(({ item }) => item);
}

function isMissing(value: SortValue): boolean {
  return value === null || (typeof value === "number" && Number.isNaN(value));
}
