/** Cells and policies in words, for labels and for the line below the board. Pure functions. */
import { rounded } from "../../../ui/numbers";
import { ACTIONS } from "./dynamics";
import type { Session } from "./session";
import { EMPTY, isState, position, type World } from "./world";

/** Returns what is on a cell: `pit, reward -1`. */
export function cellKindText(world: World, index: number): string {
  const { kind, reward } = world.cells[index] ?? EMPTY;
  if (index === world.start) return "start";
  return kind === "goal" || kind === "pit" ? `${kind}, reward ${reward}` : kind;
}

/** Returns where a cell is and what is on it: `row 2, column 3, wall`. */
export function cellPlaceText(world: World, index: number): string {
  const [row, column] = position(world, index);
  return `row ${row + 1}, column ${column + 1}, ${cellKindText(world, index)}`;
}

/** Returns the policy of a cell: `right`, `down or right`, with probabilities if it is random; empty if unknown. */
export function policyText(session: Session, state: number): string {
  const arrows = [...session.arrows(state)];
  const highest = Math.max(...arrows);
  if (highest <= 0) return "";
  const isSoftmax = session.currentSettings.algorithm === "reinforce";
  if (isSoftmax) return ACTIONS.map((name, i) => `${name} ${Math.round((arrows[i] ?? 0) * 100)} %`).join(", ");
  return ACTIONS.filter((_, i) => arrows[i] === highest).join(" or ");
}

/** Returns everything about a cell in one sentence part, for assistive technology. */
export function cellLabel(session: Session, index: number): string {
  const place = cellPlaceText(session.world, index);
  if (!isState(session.world, index)) return place;
  const policy = policyText(session, index);
  return `${place}, value ${rounded(session.value(index), 2)}${policy && `, policy ${policy}`}`;
}
