/** What can be drawn on the board. */
import { EMPTY, WALL, type Cell, type CellKind } from "./world";

export type BrushKind = CellKind | "start";

export interface Brush {
  kind: BrushKind;
  /** Rewards of the goals and pits that are drawn. */
  goal: number;
  pit: number;
}

export const BRUSHES: readonly { kind: BrushKind; label: string; key: string }[] = [
  { kind: "wall", label: "Wall", key: "w" },
  { kind: "goal", label: "Goal", key: "g" },
  { kind: "pit", label: "Pit", key: "p" },
  { kind: "start", label: "Start", key: "s" },
  { kind: "empty", label: "Empty", key: "e" },
];

/** Key -> what it draws on the focused cell. */
export const BRUSH_KEYS: Readonly<Record<string, BrushKind | undefined>> = Object.fromEntries(BRUSHES.map(({ key, kind }) => [key, kind]));

/** Returns the cell that a brush draws. */
export function brushCell(brush: Brush): Cell | "start" {
  if (brush.kind === "start") return "start";
  if (brush.kind === "goal") return { kind: "goal", reward: brush.goal };
  if (brush.kind === "pit") return { kind: "pit", reward: brush.pit };
  return brush.kind === "wall" ? WALL : EMPTY;
}
