/** Seeded random numbers: the same seed gives the same numbers on every machine. */

export class Random {
  private state: number;
  /** The second number of a pair from the polar method. */
  private spare: number | null = null;

  constructor(seed: number) {
    this.state = mixed(seed >>> 0);
  }

  /** Returns a generator whose numbers are independent of those of other streams with the same seed. */
  static stream(seed: number, ...path: number[]): Random {
    return new Random(path.reduce((state, part) => mixed(state ^ mixed((part >>> 0) + 0x9e3779b9)), mixed(seed >>> 0)));
  }

  /** Returns a number from 0 to below 1 (mulberry32). */
  uniform(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let bits = this.state;
    bits = Math.imul(bits ^ (bits >>> 15), bits | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296;
  }

  /** Returns an integer from 0 to below `count`. */
  below(count: number): number {
    return Math.floor(this.uniform() * count);
  }

  /** Returns a sample of the normal distribution with mean 0 and standard deviation 1 (polar method). */
  normal(): number {
    if (this.spare !== null) {
      const value = this.spare;
      this.spare = null;
      return value;
    }
    for (;;) {
      const [x, y] = [this.uniform() * 2 - 1, this.uniform() * 2 - 1];
      const square = x * x + y * y;
      if (square === 0 || square >= 1) continue;
      const factor = Math.sqrt((-2 * Math.log(square)) / square);
      this.spare = y * factor;
      return x * factor;
    }
  }

  /** Returns a sample of the gamma distribution with scale 1 and a shape of at least 1 (Marsaglia and Tsang, 2000). */
  gamma(shape: number): number {
    const d = shape - 1 / 3;
    const c = 1 / Math.sqrt(9 * d);
    for (;;) {
      const x = this.normal();
      const root = 1 + c * x;
      if (root <= 0) continue;
      const [v, square, u] = [root * root * root, x * x, 1 - this.uniform()];
      // The first condition implies the second one, and needs no logarithms.
      if (u < 1 - 0.0331 * square * square || Math.log(u) < 0.5 * square + d - d * v + d * Math.log(v)) return d * v;
    }
  }

  /** Returns a sample of the beta distribution; both parameters are at least 1. */
  beta(a: number, b: number): number {
    const x = this.gamma(a);
    return x / (x + this.gamma(b));
  }

  /** Returns an index, drawn with these probabilities. */
  choice(probabilities: ArrayLike<number>): number {
    let rest = this.uniform();
    for (let i = 0; i < probabilities.length - 1; i++) {
      rest -= probabilities[i] ?? 0;
      if (rest < 0) return i;
    }
    return probabilities.length - 1;
  }
}

/** Spreads the bits of a number, so that neighboring seeds give unrelated sequences (finalizer of MurmurHash3). */
function mixed(value: number): number {
  let bits = value >>> 0;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
