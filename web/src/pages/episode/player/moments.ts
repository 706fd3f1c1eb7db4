/** Kinds of key moments: their words, and shapes that can be told apart without color. Pure functions. */
import type { KeyMoment } from "../types";

export interface MomentStyle {
  label: string;
  /** What the user learns there. */
  doc: string;
  /** A path in a box of 12 x 12. */
  shape: string;
  tone: "bad" | "warning" | "neutral";
}

const SHAPES = {
  circle: "M6 1.5a4.5 4.5 0 110 9a4.5 4.5 0 010-9z",
  down: "M1 2h10L6 11z",
  diamond: "M6 .5L11.5 6 6 11.5.5 6z",
  plus: "M4.5 1h3v3.5H11v3H7.5V11h-3V7.5H1v-3h3.5z",
  square: "M1.5 1.5h9v9h-9z",
  star: "M6 .5l1.6 3.6 3.9.4-2.9 2.6.8 3.9L6 9l-3.4 2 .8-3.9L.5 4.5l3.9-.4z",
  cross: "M3 .8L6 3.8 9 .8 11.2 3 8.2 6l3 3L9 11.2 6 8.2l-3 3L.8 9l3-3-3-3z",
  bars: "M1.5 1h3.5v10H1.5zM7 1h3.5v10H7z",
} as const;

/** In order of importance: the first kind of a cluster of marks is drawn. */
const STYLES: Record<string, MomentStyle> = {
  blunder: { label: "blunder", doc: "Another action would have returned far more.", shape: SHAPES.cross, tone: "bad" },
  mistake: { label: "mistake", doc: "Another action would have returned clearly more.", shape: SHAPES.cross, tone: "warning" },
  inaccuracy: { label: "inaccuracy", doc: "Another action would have returned a little more.", shape: SHAPES.cross, tone: "neutral" },
  value_drop: {
    label: "value drop",
    doc: "The critic's estimate falls suddenly: the policy noticed that something went wrong.",
    shape: SHAPES.down,
    tone: "bad",
  },
  value_error: {
    label: "value error",
    doc: "The critic's estimate is far from the return that followed.",
    shape: SHAPES.bars,
    tone: "warning",
  },
  td_error: {
    label: "TD error",
    doc: "One step changed the expectation by much: reward plus the next value differ from the value before.",
    shape: SHAPES.diamond,
    tone: "warning",
  },
  surprise: {
    label: "surprising action",
    doc: "The action had a low probability under the policy: exploration, or doubt.",
    shape: SHAPES.star,
    tone: "neutral",
  },
  reward: { label: "reward", doc: "The reward differs from that of the other steps.", shape: SHAPES.plus, tone: "neutral" },
  end: { label: "end", doc: "The episode ends.", shape: SHAPES.square, tone: "neutral" },
};
const ORDER = Object.keys(STYLES);

/** Returns how a kind is shown; a kind without a style of its own gets a circle. */
export function momentStyle(kind: string): MomentStyle {
  return STYLES[kind] ?? { label: kind.replaceAll("_", " "), doc: "", shape: SHAPES.circle, tone: "neutral" };
}

/** Returns the more important of two kinds. */
export function moreImportant(a: string, b: string): string {
  return rank(a) <= rank(b) ? a : b;
}

function rank(kind: string): number {
  const at = ORDER.indexOf(kind);
  return at < 0 ? ORDER.length : at;
}

/** Returns the step of the next moment after a step, or of the one before it; undefined if there is none. */
export function nextMoment(moments: readonly Pick<KeyMoment, "step">[], step: number, direction: 1 | -1): number | undefined {
  let found: number | undefined;
  for (const { step: other } of moments) {
    const distance = (other - step) * direction;
    if (distance > 0 && (found === undefined || distance < (found - step) * direction)) found = other;
  }
  return found;
}
