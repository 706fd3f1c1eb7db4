/** Steps in order, to find the nearest one that has a frame. */
import { firstFrom } from "../../../chart/view";

export class SortedSteps {
  private readonly steps: number[] = [];

  add(step: number): void {
    const at = firstFrom(this.steps, step);
    if (this.steps[at] !== step) this.steps.splice(at, 0, step);
  }

  delete(step: number): void {
    const at = firstFrom(this.steps, step);
    if (this.steps[at] === step) this.steps.splice(at, 1);
  }

  /** Returns the step nearest to another one; the earlier of two equally near ones. Undefined if there are none. */
  nearest(step: number): number | undefined {
    const at = firstFrom(this.steps, step);
    const [before, after] = [this.steps[at - 1], this.steps[at]];
    if (before === undefined) return after;
    if (after === undefined) return before;
    return step - before <= after - step ? before : after;
  }

  /** Returns the first or last step, whichever is farther away and not kept; undefined if all are kept. */
  farthest(step: number, isKept: (step: number) => boolean): number | undefined {
    let low = 0;
    let high = this.steps.length - 1;
    while (low <= high) {
      const [first, last] = [this.steps[low] as number, this.steps[high] as number];
      const isFirst = step - first > last - step;
      const candidate = isFirst ? first : last;
      if (!isKept(candidate)) return candidate;
      if (isFirst) low++;
      else high--;
    }
    return undefined;
  }
}
