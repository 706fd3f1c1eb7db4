/** What is chosen about the bandit. */

export const POLICIES = ["epsilon_greedy", "ucb", "thompson"] as const;
export type BanditPolicy = (typeof POLICIES)[number];

export const POLICY_NAMES: Record<BanditPolicy, string> = {
  epsilon_greedy: "ε-greedy",
  ucb: "UCB1",
  thompson: "Thompson sampling",
};

export type RewardKind = "gaussian" | "bernoulli";

export interface BanditSettings {
  kind: RewardKind;
  /** True mean of the reward of each arm; a probability if rewards are 0 or 1. */
  means: readonly number[];
  /** Standard deviation of Gaussian rewards. */
  sigma: number;
  /** Probability of a random arm of epsilon-greedy. */
  epsilon: number;
  /** Factor of the bonus of UCB1. */
  exploration: number;
  /** Steps of a repetition. */
  horizon: number;
  /** Repetitions, over which curves are averaged. */
  repetitions: number;
  /** Seed of all random numbers. */
  seed: number;
}

export const MIN_ARMS = 2;
export const MAX_ARMS = 8;

export const DEFAULT_BANDIT: BanditSettings = {
  kind: "bernoulli",
  means: [0.3, 0.5, 0.45, 0.7, 0.6],
  sigma: 1,
  epsilon: 0.1,
  exploration: 0.5,
  horizon: 2000,
  repetitions: 200,
  seed: 1,
};

/** Returns the range of the true means. */
export function meanRange(kind: RewardKind): readonly [low: number, high: number] {
  return kind === "bernoulli" ? [0, 1] : [-2, 2];
}

/** Returns the index of the best arm; of several, the first one. */
export function bestArm(means: readonly number[]): number {
  return means.reduce((best, mean, i) => (mean > (means[best] ?? -Infinity) ? i : best), 0);
}

/** Returns the settings with another kind of rewards; means are moved to its range. */
export function withKind(settings: BanditSettings, kind: RewardKind): BanditSettings {
  const [[low, high], [newLow, newHigh]] = [meanRange(settings.kind), meanRange(kind)];
  const means = settings.means.map((mean) => {
    const share = (mean - low) / (high - low);
    return Math.round((newLow + share * (newHigh - newLow)) * 100) / 100;
  });
  return kind === settings.kind ? settings : { ...settings, kind, means };
}
