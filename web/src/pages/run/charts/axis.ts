/** Maps env steps to the clock on the x axis, by linear interpolation between recorded rows. */
export class ClockAxis {
  /** All clocks start together at 0. `steps` ascends; `values` are the x values at these env steps. */
  readonly steps: number[];
  readonly values: number[];

  constructor(steps: ArrayLike<number> = [], values: ArrayLike<number> = []) {
    this.steps = [0];
    this.values = [0];
    for (let i = 0; i < steps.length; i++) this.extend(steps[i]!, values[i]!);
  }

  /** Adds a row; one that does not advance the env steps (a late evaluation) is ignored. */
  extend(steps: number, value: number): void {
    if (!Number.isFinite(steps) || !Number.isFinite(value)) return;
    if (steps <= this.steps[this.steps.length - 1]!) return;
    this.steps.push(steps);
    this.values.push(value);
  }

  /** Returns the position on the x axis; beyond the last row, that of the last row. */
  at(steps: number): number {
    const { steps: xs, values: ys } = this;
    let low = 0;
    let high = xs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (xs[middle]! < steps) low = middle + 1;
      else high = middle;
    }
    if (low === xs.length) return ys[low - 1]!;
    if (low === 0 || xs[low] === steps) return ys[low]!;
    const share = (steps - xs[low - 1]!) / (xs[low]! - xs[low - 1]!);
    return ys[low - 1]! + share * (ys[low]! - ys[low - 1]!);
  }
}
