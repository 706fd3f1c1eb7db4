/** A curve of any length in bounded memory: neighboring points are averaged when there are too many. */

export class History {
  readonly x: number[] = [];
  readonly y: number[] = [];
  /** Values that one point is the mean of. */
  private size = 1;
  private sum = 0;
  private count = 0;

  constructor(private readonly limit = 400) {}

  /** Adds the next value; `x` never decreases. */
  push(x: number, y: number): void {
    this.sum += y;
    this.count++;
    if (this.count < this.size) return;
    this.x.push(x);
    this.y.push(this.sum / this.count);
    this.sum = this.count = 0;
    if (this.x.length >= this.limit) this.halve();
  }

  get last(): number | undefined {
    return this.y[this.y.length - 1];
  }

  private halve(): void {
    for (let i = 0; i + 1 < this.x.length; i += 2) {
      this.x[i / 2] = this.x[i + 1] ?? 0;
      this.y[i / 2] = ((this.y[i] ?? 0) + (this.y[i + 1] ?? 0)) / 2;
    }
    this.x.length = this.y.length = Math.floor(this.x.length / 2);
    this.size *= 2;
  }
}
