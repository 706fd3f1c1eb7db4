/** Which columns have the value of a state, and the return that followed. Pure functions. */

export interface ValueColumns {
  /** What the critic expected, in the unit of `actual`. */
  value: string;
  /** The return that the critic should have predicted; undefined if it is unknown. */
  actual: string | undefined;
  unit: string;
}

/** Returns the columns of the critic's value; undefined without a critic. */
export function valueColumns(has: (column: string) => boolean): ValueColumns | undefined {
  if (!has("value_learned")) return undefined;
  return { value: "value_learned", actual: has("return_learned") ? "return_learned" : undefined, unit: "learned reward" };
}
