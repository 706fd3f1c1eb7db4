/** How fast something is computed, without ever blocking the page: in slices of a few milliseconds per frame. */

/** Steps per second; Infinity is as fast as possible. */
export const SPEEDS = [1, 4, 15, 60, 300, 2000, 20_000, Infinity] as const;
export const DEFAULT_SPEED = 5;

/** Milliseconds of a frame in which steps may be computed; the rest is for drawing and for the user. */
export const BUDGET = 8;
/** Steps between two looks at the clock. */
const CHUNK = 16;
/** Seconds that are caught up at most, after the page was hidden. */
const LONGEST_GAP = 0.1;

/** Returns the speed as text. */
export function speedText(index: number, unit = "steps"): string {
  const speed = SPEEDS[index] ?? Infinity;
  return speed === Infinity ? "as fast as possible" : `${speed.toLocaleString("en-US")} ${unit}/s`;
}

/** Turns time that has passed into whole steps. */
export class Pace {
  private debt = 0;

  /** Returns how many steps are due after so many seconds. */
  due(seconds: number, speed: number): number {
    if (speed === Infinity) return Infinity;
    this.debt += Math.min(seconds, LONGEST_GAP + 1 / speed) * speed;
    const steps = Math.floor(this.debt + 1e-9);
    this.debt -= steps;
    return steps;
  }
}

/** Calls `step` up to `count` times, until it returns false or the budget is spent. Returns how often it was called. */
export function runSlice(step: () => boolean, count: number, now: () => number, budget = BUDGET, chunk = CHUNK): number {
  const end = now() + budget;
  let done = 0;
  while (done < count) {
    done++;
    if (!step()) break;
    if (done % chunk === 0 && now() >= end) break;
  }
  return done;
}
