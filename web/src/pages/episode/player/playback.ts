/** Which step playback shows at a time. */

/** Moves through the steps at a rate, whatever the rate of animation frames is. */
export class Playback {
  private last: number | undefined;
  private rest = 0;

  /** Returns by how many steps to move at a time in milliseconds. `rate`: steps per second. */
  stepsAt(now: number, rate: number): number {
    if (this.last === undefined) {
      this.last = now;
      return 0;
    }
    // A page in the background gets no frames: it continues where it was instead of jumping.
    const seconds = Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    this.rest += seconds * rate;
    // Sums of times such as 1/60 s end a little below a whole number.
    const whole = Math.floor(this.rest + 1e-6);
    this.rest -= whole;
    return whole;
  }
}

/** Returns the next faster or slower of the speeds. */
export function nextSpeed(speeds: readonly number[], speed: number, direction: 1 | -1): number {
  const found = direction === 1 ? speeds.find((other) => other > speed) : speeds.findLast((other) => other < speed);
  return found ?? speed;
}
