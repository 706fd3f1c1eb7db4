import { describe, expect, test } from "vitest";
import { Random } from "../random";
import { quantile } from "../quantile";
import { Experiment } from "./experiment";
import { Player } from "./players";
import { bestArm, DEFAULT_BANDIT, POLICIES, withKind, type BanditPolicy, type BanditSettings } from "./settings";

function ran(settings: Partial<BanditSettings>): Experiment {
  const experiment = new Experiment({ ...DEFAULT_BANDIT, ...settings });
  while (!experiment.isDone) experiment.step();
  return experiment;
}

function curve(experiment: Experiment, policy: BanditPolicy) {
  return experiment.results.find((result) => result.policy === policy)?.regret ?? { x: [], mean: [], low: [], high: [] };
}

describe.each(["bernoulli", "gaussian"] as const)("%s rewards", (kind) => {
  const means = kind === "bernoulli" ? [0.2, 0.5, 0.9] : [-0.5, 0, 1];
  const experiment = ran({ kind, means, horizon: 4000, repetitions: 60, epsilon: 0.1 });

  test("the regret of UCB1 and of Thompson sampling grows slower than that of epsilon-greedy", () => {
    const growth = (policy: BanditPolicy) => {
      const { mean } = curve(experiment, policy);
      return (mean[mean.length - 1] ?? NaN) - (mean[mean.length / 2 - 1] ?? NaN);
    };
    // epsilon-greedy never stops exploring: its regret is linear, epsilon times the mean gap in every step.
    const gaps = means.map((mean) => Math.max(...means) - mean);
    const linear = (2000 * 0.1 * gaps.reduce((sum, gap) => sum + gap, 0)) / gaps.length;
    expect(growth("epsilon_greedy")).toBeGreaterThan(0.9 * linear);
    expect(growth("epsilon_greedy")).toBeLessThan(1.3 * linear);
    expect(growth("ucb")).toBeLessThan(0.6 * growth("epsilon_greedy"));
    expect(growth("thompson")).toBeLessThan(0.2 * growth("epsilon_greedy"));
  });

  test("all find the best arm", () => {
    for (const policy of POLICIES) {
      const player = experiment.player(policy, 0);
      expect(bestArm([...player.counts])).toBe(2);
      expect(player.pulls).toBe(4000);
      expect(Math.abs(player.mean(2) - (means[2] ?? 0))).toBeLessThan(0.1);
    }
  });

  test("the band contains the mean, and regret never declines", () => {
    for (const policy of POLICIES) {
      const { mean, low, high } = curve(experiment, policy);
      mean.forEach((value, i) => {
        expect(value).toBeGreaterThanOrEqual(mean[i - 1] ?? 0);
        expect(low[i]).toBeLessThanOrEqual(high[i] ?? NaN);
      });
    }
  });
});

test("UCB1 pulls the arm with the highest mean plus sqrt(2 ln t / n)", () => {
  const random = new Random(2);
  const player = new Player("ucb", { ...DEFAULT_BANDIT, means: [0.1, 0.5, 0.6], exploration: 0.7 }, new Random(0));
  const rewards: number[][] = [[], [], []];
  for (let t = 0; t < 300; t++) {
    const scores = rewards.map((got) =>
      got.length === 0
        ? Infinity
        : got.reduce((sum, value) => sum + value, 0) / got.length + 0.7 * Math.sqrt((2 * Math.log(t)) / got.length),
    );
    const arm = player.choose();
    expect(scores[arm]).toBeCloseTo(Math.max(...scores), 12);
    const reward = random.uniform() < [0.1, 0.5, 0.6][arm]! ? 1 : 0;
    rewards[arm]?.push(reward);
    player.observe(arm, reward);
  }
  expect(rewards.map((got) => got.length)).toEqual([...player.counts]);
});

test("epsilon-greedy explores with probability epsilon", () => {
  const player = new Player("epsilon_greedy", { ...DEFAULT_BANDIT, means: [0, 0, 0, 0], epsilon: 0.2 }, new Random(1));
  [0, 1, 2, 3].forEach((arm) => player.observe(arm, arm === 1 ? 1 : 0));
  let others = 0;
  for (let i = 0; i < 20_000; i++) if (player.choose() !== 1) others++;
  expect(Math.abs(others / 20_000 - 0.2 * (3 / 4))).toBeLessThan(0.01);
});

test("Thompson sampling chooses an arm as often as it is the best one under the posterior", () => {
  const player = new Player("thompson", { ...DEFAULT_BANDIT, kind: "gaussian", means: [0, 0], sigma: 1 }, new Random(1));
  for (let i = 0; i < 4; i++) player.observe(0, 0);
  for (let i = 0; i < 4; i++) player.observe(1, 0.5);
  let second = 0;
  for (let i = 0; i < 20_000; i++) second += player.choose();
  // The difference of the means is Normal(0.5, 1/4 + 1/4): it is positive with probability Phi(0.5 / sqrt(0.5)) = 0.7602.
  expect(Math.abs(second / 20_000 - 0.7602)).toBeLessThan(0.012);
});

test("algorithms that pull the same arm in the same step get the same reward", () => {
  const experiment = new Experiment({ ...DEFAULT_BANDIT, kind: "gaussian", means: [0, 0.1], horizon: 200, repetitions: 2 });
  const sums = () => POLICIES.map((policy) => [...experiment.player(policy, 1).sums]);
  let [same, luck] = [0, new Set<string>()];
  while (!experiment.isDone) {
    const before = sums();
    experiment.step();
    const pulls = sums().map((after, p) => {
      const arm = after.findIndex((sum, i) => sum !== before[p]?.[i]);
      return [arm, ((after[arm] ?? 0) - (before[p]?.[arm] ?? 0)).toFixed(9)] as const;
    });
    for (const [arm, reward] of pulls) {
      for (const [otherArm, otherReward] of pulls) {
        if (arm !== otherArm) continue;
        expect(reward).toBe(otherReward);
        same++;
      }
      luck.add(reward);
    }
  }
  expect(same).toBeGreaterThan(600);
  expect(luck.size).toBeGreaterThan(200);
});

test("intervals shrink with pulls and contain the estimate", () => {
  for (const policy of POLICIES) {
    const experiment = ran({ horizon: 500, repetitions: 1 });
    const player = experiment.player(policy, 0);
    const arms = [...player.counts.keys()].filter((arm) => (player.counts[arm] ?? 0) > 20);
    const widths = arms.map((arm) => {
      const interval = player.interval(arm);
      expect(interval?.low).toBeLessThan(player.mean(arm));
      expect(interval?.high).toBeGreaterThan(player.mean(arm));
      return [player.counts[arm] ?? 0, (interval?.high ?? 0) - (interval?.low ?? 0)] as const;
    });
    widths.sort((a, b) => a[0] - b[0]);
    if (widths.length > 1) expect(widths[0]?.[1]).toBeGreaterThan(widths.at(-1)?.[1] ?? NaN);
  }
});

test("quantiles are interpolated", () => {
  expect(quantile([0, 1, 2, 3, 4], 0.1)).toBeCloseTo(0.4, 12);
  expect(quantile([5], 0.9)).toBe(5);
});

test("another kind of rewards moves the means to its range and back", () => {
  const gaussian = withKind(DEFAULT_BANDIT, "gaussian");
  expect(gaussian.means).toEqual([-0.8, 0, -0.2, 0.8, 0.4]);
  expect(withKind(gaussian, "bernoulli").means).toEqual(DEFAULT_BANDIT.means);
});
