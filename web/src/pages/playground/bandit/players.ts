/** Algorithms for bandits: each knows how often it pulled each arm and what it got. */
import type { Random } from "../random";
import type { BanditPolicy, BanditSettings, RewardKind } from "./settings";

export interface Interval {
  low: number;
  high: number;
}

export class Player {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  /** Pulls of all arms. */
  pulls = 0;

  constructor(
    readonly policy: BanditPolicy,
    private readonly settings: BanditSettings,
    private readonly random: Random,
  ) {
    this.counts = new Float64Array(settings.means.length);
    this.sums = new Float64Array(settings.means.length);
  }

  /** Returns the arm to pull next. An arm that was never pulled comes first, except that Thompson sampling of
   * Bernoulli rewards has a prior for it. */
  choose(): number {
    const { kind, epsilon } = this.settings;
    const needsPull = this.policy !== "thompson" || kind === "gaussian";
    const untried = needsPull ? this.counts.indexOf(0) : -1;
    if (untried >= 0) return untried;
    if (this.policy === "epsilon_greedy") {
      return this.random.uniform() < epsilon ? this.random.below(this.counts.length) : this.highest((arm) => this.mean(arm));
    }
    if (this.policy === "ucb") return this.highest((arm) => this.mean(arm) + this.bonus(arm));
    return this.highest((arm) => this.sample(arm));
  }

  observe(arm: number, reward: number): void {
    this.counts[arm] = (this.counts[arm] ?? 0) + 1;
    this.sums[arm] = (this.sums[arm] ?? 0) + reward;
    this.pulls++;
  }

  /** Returns the mean of the rewards of an arm; NaN if it was never pulled. */
  mean(arm: number): number {
    return (this.sums[arm] ?? 0) / (this.counts[arm] ?? 0);
  }

  /** Returns the bonus of UCB1: c * sqrt(2 ln t / n). */
  bonus(arm: number): number {
    return this.settings.exploration * Math.sqrt((2 * Math.log(this.pulls)) / (this.counts[arm] ?? 0));
  }

  /** Returns a sample of the posterior of an arm's mean: Beta(1 + ones, 1 + zeros), or Normal(mean, sigma^2 / n). */
  private sample(arm: number): number {
    const [count, sum] = [this.counts[arm] ?? 0, this.sums[arm] ?? 0];
    if (this.settings.kind === "bernoulli") return this.random.beta(1 + sum, 1 + count - sum);
    return sum / count + (this.settings.sigma / Math.sqrt(count)) * this.random.normal();
  }

  /** Returns what the algorithm believes about an arm's mean: UCB1's bonus on both sides, otherwise the central 95 % of
   * the posterior. null if it was never pulled. */
  interval(arm: number): Interval | null {
    const count = this.counts[arm] ?? 0;
    if (count === 0) return null;
    if (this.policy === "ucb") return { low: this.mean(arm) - this.bonus(arm), high: this.mean(arm) + this.bonus(arm) };
    return credible(this.settings.kind, count, this.sums[arm] ?? 0, this.settings.sigma);
  }

  private highest(score: (arm: number) => number): number {
    let [best, found] = [-Infinity, 0];
    let ties = 1;
    for (let arm = 0; arm < this.counts.length; arm++) {
      const value = score(arm);
      if (value > best) [best, found, ties] = [value, arm, 1];
      // Each of several equal ones has the same chance.
      else if (value === best && this.random.uniform() < 1 / ++ties) found = arm;
    }
    return found;
  }
}

const Z95 = 1.959963984540054;

/** Returns the central 95 % of the posterior of a mean. For Bernoulli rewards it is the normal approximation of
 * Beta(1 + ones, 1 + zeros), cut at 0 and 1. */
function credible(kind: RewardKind, count: number, sum: number, sigma: number): Interval {
  if (kind === "gaussian") {
    const half = (Z95 * sigma) / Math.sqrt(count);
    return { low: sum / count - half, high: sum / count + half };
  }
  const [a, b] = [1 + sum, 1 + count - sum];
  const mean = a / (a + b);
  const half = Z95 * Math.sqrt((a * b) / ((a + b) ** 2 * (a + b + 1)));
  return { low: Math.max(0, mean - half), high: Math.min(1, mean + half) };
}
