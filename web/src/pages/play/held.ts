/** The keys that are held down while playing. Pure functions. */

const NAMES: Record<string, string> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  " ": "space",
  Enter: "return",
};

/** Returns the name of a key as the environment's keys are declared: `left`, `space`, `w`. */
export function keyName(key: string): string {
  return NAMES[key] ?? key.toLowerCase();
}

/** Returns the held keys after one was pressed or released, the latest last. */
export function afterKey(held: readonly string[], name: string, isDown: boolean): readonly string[] {
  const others = held.filter((other) => other !== name);
  return isDown ? [...others, name] : others;
}

/** Returns how many steps are due at a time, and the time of the next one. At most `most`, so that a slow server is
 * not asked to catch up. */
export function dueSteps(now: number, next: number, period: number, most: number): { steps: number; next: number } {
  if (now < next) return { steps: 0, next };
  const steps = Math.min(most, 1 + Math.floor((now - next) / period));
  return { steps, next: Math.max(next + steps * period, now) };
}
