/** Columns of the step table. Pure functions. */
import type { Cell, EpisodeInspection, Variation } from "./types";

/** Returns the values of a column before a variation, followed by those of the variation. */
export function joinedColumn(
  values: readonly Cell[] | undefined,
  name: string,
  variation: Pick<Variation, "step" | "table"> | null,
): readonly Cell[] | undefined {
  if (!variation || !values) return values;
  const rows = variation.table["step"]?.length ?? 0;
  const others = variation.table[name] ?? new Array<Cell>(rows).fill(NaN);
  return [...values.slice(0, variation.step), ...others];
}

/** Returns values as numbers, true as 1; undefined if there are texts. */
export function numbersOf(values: readonly Cell[] | undefined): Float64Array | undefined {
  if (!values) return undefined;
  const numbers = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] ?? NaN;
    if (typeof value === "string") return undefined;
    numbers[i] = Number(value);
  }
  return numbers;
}

/** Returns the names of the options that the numbers of a column `action/ELEMENT` stand for; none for other columns, and
 * if they have no names. */
export function optionNames(inspection: Pick<EpisodeInspection, "actions"> | undefined, column: string): readonly string[] {
  return inspection?.actions.find(({ name }) => column === `action/${name}`)?.options ?? [];
}

/** Returns values with the names of options in place of their numbers. */
export function withOptionNames(values: readonly Cell[] | undefined, names: readonly string[]): readonly Cell[] | undefined {
  if (!values || !names.length) return values;
  // Not `map`: columns may be typed arrays of numbers.
  return Array.from(values, (value) => (typeof value === "number" ? (names[value] ?? value) : value));
}
