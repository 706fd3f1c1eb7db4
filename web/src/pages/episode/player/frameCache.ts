/** Frames by step, bounded by their total size. Those farthest from the current step are dropped first, since the user
 * moves along the episode; frames of the overview are kept as long as any other can be dropped. */
import { SortedSteps } from "./nearest";

export class FrameCache<T> {
  private readonly frames = new Map<number, { frame: T; size: number }>();
  private readonly steps = new SortedSteps();
  private total = 0;

  constructor(
    /** Largest total size. */
    readonly limit: number,
    /** Called with every frame that is dropped. */
    private readonly onDrop: (frame: T) => void = () => undefined,
    private readonly isKept: (step: number) => boolean = () => false,
  ) {}

  get size(): number {
    return this.total;
  }

  get count(): number {
    return this.frames.size;
  }

  has(step: number): boolean {
    return this.frames.has(step);
  }

  get(step: number): T | undefined {
    return this.frames.get(step)?.frame;
  }

  nearest(step: number): number | undefined {
    return this.steps.nearest(step);
  }

  /** Stores a frame. `current`: the step that is shown; its frame is never dropped. */
  set(step: number, frame: T, size: number, current: number): void {
    this.drop(step);
    this.frames.set(step, { frame, size });
    this.steps.add(step);
    this.total += size;
    while (this.total > this.limit && this.frames.size > 1) {
      const shown = this.steps.nearest(current);
      const far =
        this.steps.farthest(current, (other) => other === shown || this.isKept(other)) ??
        this.steps.farthest(current, (other) => other === shown);
      if (far === undefined) return;
      this.drop(far);
    }
  }

  clear(): void {
    for (const step of [...this.frames.keys()]) this.drop(step);
  }

  private drop(step: number): void {
    const found = this.frames.get(step);
    if (!found) return;
    this.frames.delete(step);
    this.steps.delete(step);
    this.total -= found.size;
    this.onDrop(found.frame);
  }
}
