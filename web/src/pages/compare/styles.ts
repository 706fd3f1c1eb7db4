/** The color and dash of each side. */
import { colorsOf, type Ink } from "../../chart/colors";
import type { Side } from "./sides";

export interface SideStyles {
  color: (ref: string) => string;
  dash: (ref: string) => number[] | undefined;
}

/** With more sides, dashes cannot be told apart, and drawing them takes most of the time. */
export const MANY_SIDES = 24;

/** Returns the stable colors of the sides; sides that would have the same one differ in color or dash. */
export function sideStyles(sides: readonly Side[]): SideStyles {
  const inks = colorsOf(sides.map((side) => side.ref));
  const ink = (ref: string): Ink | undefined => inks.get(ref);
  return { color: (ref) => ink(ref)?.color ?? "var(--muted)", dash: (ref) => (sides.length > MANY_SIDES ? undefined : ink(ref)?.dash) };
}
