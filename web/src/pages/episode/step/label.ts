/** Labels of the card of a step. Pure functions. */

/** Number of characters that fit next to the value, and to the bar if there is one. */
const ROOM = 32;
const ROOM_WITH_BAR = 18;

/** Returns a label and its unit as they fit. The unit is left out first. Cutting texts off by style would make a layer of
 * every label. */
export function fittedLabel(label: string, unit: string, hasBar: boolean): { label: string; unit: string } {
  const room = hasBar ? ROOM_WITH_BAR : ROOM;
  if (label.length > room) return { label: `${label.slice(0, room - 1)}…`, unit: "" };
  const wanted = unitText(label, unit);
  return { label, unit: label.length + 1 + wanted.length <= room ? wanted : "" };
}

/** Returns the unit next to a label, without what the label says already. */
function unitText(label: string, unit: string): string {
  if (unit === "reward" || label.startsWith("learned")) return "";
  return unit === "learned reward" ? "learned" : unit;
}
