/** One stable color per run, the same on every page. */

/** After Okabe and Ito's palette, which people with color blindness can tell apart; darker on a light and lighter
 * on a dark background, so that labels in these colors have a contrast of at least 4.5:1. */
const LIGHT = ["#0072b2", "#b85000", "#007a5a", "#a8548a", "#7d1d3f", "#9a6a00", "#5b4bb5", "#6b6b6b"];
const DARK = ["#56b4e9", "#f08a3c", "#2fc296", "#e08fc2", "#f0e442", "#e6b030", "#a99df0", "#b0b0b0"];
const DASHES: (number[] | undefined)[] = [undefined, [6, 3], [2, 3], [8, 3, 2, 3]];

export interface Ink {
  /** CSS color; one of the variables of the theme, so that it follows light and dark. */
  color: string;
  dash?: number[];
}

/** Number of colors before dashes repeat them. */
export const COLORS = LIGHT.length;

/** Returns a color for a name, such as the id of a run: always the same one. */
export function colorOf(name: string): Ink {
  return inkAt(hashed(name) % (COLORS * DASHES.length));
}

/** Returns colors for several names: the stable one of each, except that no two have the same ink while there
 * are unused ones. Names that are added at the end do not change the colors of earlier ones. */
export function colorsOf(names: readonly string[]): Map<string, Ink> {
  const total = COLORS * DASHES.length;
  const used = new Set<number>();
  const inks = new Map<string, Ink>();
  for (const name of names) {
    if (inks.has(name)) continue;
    const home = hashed(name) % COLORS;
    let index = home;
    // Another color first, then another dash: the next free place after the stable one.
    for (let step = 0; used.has(index) && step < total; step++) {
      index = ((home + step) % COLORS) + COLORS * Math.floor(step / COLORS);
    }
    used.add(index);
    inks.set(name, inkAt(index));
  }
  return inks;
}

/** Returns the nth color, for series that are not runs: terms, actions, roles. */
export function inkAt(index: number): Ink {
  const dash = DASHES[Math.floor(index / COLORS) % DASHES.length];
  const color = `var(--series-${index % COLORS})`;
  return dash ? { color, dash } : { color };
}

/** Returns the palette of a theme; the style sheet has the same values. */
export function palette(theme: "light" | "dark"): readonly string[] {
  return theme === "dark" ? DARK : LIGHT;
}

/** Returns a color that a canvas understands: variables are replaced by the value of the theme. */
export function resolved(color: string, theme: "light" | "dark"): string {
  const match = /^var\(--series-(\d+)\)$/.exec(color);
  if (match) return palette(theme)[Number(match[1])] ?? color;
  const name = /^var\((--[\w-]+)\)$/.exec(color)?.[1];
  return name ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : color;
}

/** FNV-1a: spreads similar names over the palette. */
function hashed(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash ^= text.charCodeAt(i);
    hash = Math.imul(hash, 0x01000193);
  }
  return (hash ^ (hash >>> 15)) >>> 0;
}
