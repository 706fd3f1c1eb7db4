/** Many repetitions of a bandit, step by step, with all algorithms on the same random numbers. */
import { quantile } from "../quantile";
import { Random } from "../random";
import { Player } from "./players";
import { bestArm, POLICIES, type BanditPolicy, type BanditSettings } from "./settings";

/** Points of a curve: enough for a chart of any horizon. */
const POINTS = 200;
const LOW = 0.1;
const HIGH = 0.9;

export interface Curve {
  x: number[];
  mean: number[];
  /** 10 % and 90 % of the repetitions are below these. */
  low: number[];
  high: number[];
}

export interface PolicyResult {
  policy: BanditPolicy;
  /** Expected reward lost so far by not pulling the best arm. */
  regret: Curve;
  /** Share of the repetitions that pulled the best arm, per step since the last point. */
  bestShare: { x: number[]; y: number[] };
}

export class Experiment {
  /** Steps that all repetitions have done. */
  steps = 0;
  readonly results: readonly PolicyResult[] = POLICIES.map((policy) => ({
    policy,
    regret: { x: [], mean: [], low: [], high: [] },
    bestShare: { x: [], y: [] },
  }));
  private readonly players: readonly (readonly Player[])[];
  private readonly rewards: readonly Random[];
  private readonly regrets: readonly Float64Array[];
  private readonly bestPulls: Float64Array;
  private readonly best: number;
  private readonly every: number;

  constructor(readonly settings: BanditSettings) {
    const { seed, repetitions, means, horizon } = settings;
    const numbers = Array.from({ length: repetitions }, (_, i) => i);
    this.rewards = numbers.map((i) => Random.stream(seed, i, 0));
    this.players = POLICIES.map((policy, p) => numbers.map((i) => new Player(policy, settings, Random.stream(seed, i, p + 1))));
    this.regrets = POLICIES.map(() => new Float64Array(repetitions));
    this.bestPulls = new Float64Array(POLICIES.length);
    this.best = bestArm(means);
    this.every = Math.max(1, Math.floor(horizon / POINTS));
  }

  get isDone(): boolean {
    return this.steps >= this.settings.horizon;
  }

  /** Returns a repetition of an algorithm. */
  player(policy: BanditPolicy, repetition: number): Player {
    const found = this.players[POLICIES.indexOf(policy)]?.[repetition];
    if (!found) throw new Error(`there is no repetition ${repetition} of ${policy}`);
    return found;
  }

  /** Lets every algorithm pull one arm in every repetition. */
  step(): void {
    if (this.isDone) return;
    const { means } = this.settings;
    const bestMean = means[this.best] ?? 0;
    const drawn = new Float64Array(means.length);
    this.rewards.forEach((random, repetition) => {
      for (let arm = 0; arm < drawn.length; arm++) drawn[arm] = this.reward(random, means[arm] ?? 0);
      for (let p = 0; p < this.players.length; p++) {
        const player = this.players[p]?.[repetition] as Player;
        const arm = player.choose();
        player.observe(arm, drawn[arm] ?? 0);
        const regrets = this.regrets[p] as Float64Array;
        const lost = bestMean - (means[arm] ?? 0);
        regrets[repetition] = (regrets[repetition] ?? 0) + lost;
        if (lost === 0) this.bestPulls[p] = (this.bestPulls[p] ?? 0) + 1;
      }
    });
    this.steps++;
    if (this.steps % this.every === 0 || this.isDone) this.record();
  }

  /** Draws what an arm pays in this step. It is drawn for all arms, whoever pulls them: luck is the same for all. */
  private reward(random: Random, mean: number): number {
    if (this.settings.kind === "bernoulli") return random.uniform() < mean ? 1 : 0;
    return mean + this.settings.sigma * random.normal();
  }

  private record(): void {
    this.results.forEach(({ regret, bestShare }, p) => {
      const sorted = (this.regrets[p] as Float64Array).slice().sort();
      const before = bestShare.x[bestShare.x.length - 1] ?? 0;
      regret.x.push(this.steps);
      regret.mean.push(sorted.reduce((sum, value) => sum + value, 0) / sorted.length);
      regret.low.push(quantile(sorted, LOW));
      regret.high.push(quantile(sorted, HIGH));
      bestShare.x.push(this.steps);
      bestShare.y.push((this.bestPulls[p] ?? 0) / (sorted.length * (this.steps - before)));
    });
    this.bestPulls.fill(0);
  }
}
