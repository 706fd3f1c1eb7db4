/** Calls a function at most once per pause, and once more if it was asked for meanwhile. */
export class Throttle {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private last = -Infinity;

  constructor(
    readonly pause: number,
    readonly run: () => void,
  ) {}

  /** Calls the function now, or when the pause since its last call has passed. */
  soon(): void {
    if (this.timer !== undefined) return;
    const wait = Math.max(this.last + this.pause - performance.now(), 0);
    this.timer = setTimeout(() => this.now(), wait);
  }

  now(): void {
    this.stop();
    this.last = performance.now();
    this.run();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
