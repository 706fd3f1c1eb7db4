/** Algorithms that learn from experience: Q-learning and SARSA with eligibility traces, and REINFORCE. */
import type { Random } from "../random";
import { ACTION_COUNT, type StepResult } from "./dynamics";
import { bestActions } from "./planning";
import { policyGradient, probabilities, rewardsToGo, type Episode } from "./policyGradient";
import type { Settings } from "./settings";

export interface Learner {
  /** Action values, or preferences of REINFORCE, whose order is the order of the policy: `[state * 4 + action]`. */
  readonly q: Float64Array;
  /** Returns the action for a state. */
  act(state: number): number;
  /** Learns from what an action in a state has led to. */
  observe(state: number, action: number, result: StepResult): void;
  /** Returns the value of a state. */
  value(state: number): number;
  /** Returns the probabilities with which actions are taken in a state. */
  policy(state: number): Float64Array;
  /** Drops everything about the present episode, which does not end. */
  abandon(): void;
  /** Forgets what was learned about a cell. */
  forget(state: number): void;
}

/** Traces below this change nothing that could be seen. */
const SMALLEST_TRACE = 1e-3;

/** Q-learning and SARSA; with lambda > 0, Watkins's Q(lambda) and SARSA(lambda) with replacing traces. */
export class ActionValueLearner implements Learner {
  readonly q: Float64Array;
  private readonly traces = new Map<number, number>();
  /** The action that SARSA has chosen already, for its update. */
  private planned: number | null = null;

  constructor(
    size: number,
    private readonly settings: () => Settings,
    private readonly random: Random,
  ) {
    this.q = new Float64Array(size * ACTION_COUNT);
  }

  private get isOnPolicy(): boolean {
    return this.settings().algorithm === "sarsa";
  }

  act(state: number): number {
    if (this.planned !== null) {
      const action = this.planned;
      this.planned = null;
      return action;
    }
    const best = bestActions(this.q, state);
    const isRandom = this.random.uniform() < this.settings().epsilon;
    const action = isRandom ? this.random.below(ACTION_COUNT) : (best[best.length > 1 ? this.random.below(best.length) : 0] ?? 0);
    // The returns behind a random action say nothing about the greedy policy.
    if (!this.isOnPolicy && !best.includes(action)) this.traces.clear();
    return action;
  }

  observe(state: number, action: number, { obs, reward, terminated, truncated }: StepResult): void {
    const { alpha, gamma, lambda } = this.settings();
    const index = state * ACTION_COUNT + action;
    // Beyond a truncation there is future reward, beyond a termination there is none.
    const error = reward + (terminated ? 0 : gamma * this.nextValue(obs)) - (this.q[index] ?? 0);
    if (lambda === 0) this.q[index] = (this.q[index] ?? 0) + alpha * error;
    else this.updateTraces(index, alpha * error, gamma * lambda);
    if (terminated || truncated) this.abandon();
  }

  private nextValue(state: number): number {
    if (this.isOnPolicy) {
      this.planned = this.act(state);
      return this.q[state * ACTION_COUNT + this.planned] ?? 0;
    }
    return this.highest(state);
  }

  private highest(state: number): number {
    const first = state * ACTION_COUNT;
    return Math.max(this.q[first] ?? 0, this.q[first + 1] ?? 0, this.q[first + 2] ?? 0, this.q[first + 3] ?? 0);
  }

  private updateTraces(index: number, change: number, decay: number): void {
    this.traces.set(index, 1);
    for (const [i, trace] of this.traces) {
      this.q[i] = (this.q[i] ?? 0) + change * trace;
      if (trace * decay < SMALLEST_TRACE) this.traces.delete(i);
      else this.traces.set(i, trace * decay);
    }
  }

  value(state: number): number {
    if (!this.isOnPolicy) return this.highest(state);
    return this.policy(state).reduce((sum, chance, action) => sum + chance * (this.q[state * ACTION_COUNT + action] ?? 0), 0);
  }

  policy(state: number): Float64Array {
    const best = bestActions(this.q, state);
    const { epsilon } = this.settings();
    const policy = new Float64Array(ACTION_COUNT).fill(epsilon / ACTION_COUNT);
    for (const action of best) policy[action] = (policy[action] ?? 0) + (1 - epsilon) / best.length;
    return policy;
  }

  abandon(): void {
    this.traces.clear();
    this.planned = null;
  }

  forget(state: number): void {
    this.q.fill(0, state * ACTION_COUNT, (state + 1) * ACTION_COUNT);
  }
}

/** Step size of the state values of REINFORCE, which are means of returns. */
const VALUE_STEP = 0.1;

/** REINFORCE with a softmax policy that has one preference per state and action. It learns at the end of episodes. */
export class ReinforceLearner implements Learner {
  /** The preferences. */
  readonly q: Float64Array;
  private readonly values: Float64Array;
  private episode: Episode = { states: [], actions: [], rewards: [] };

  constructor(
    size: number,
    private readonly settings: () => Settings,
    private readonly random: Random,
  ) {
    this.q = new Float64Array(size * ACTION_COUNT);
    this.values = new Float64Array(size);
  }

  act(state: number): number {
    return this.random.choice(this.policy(state));
  }

  observe(state: number, action: number, { obs, reward, terminated, truncated }: StepResult): void {
    this.episode.states.push(state);
    this.episode.actions.push(action);
    this.episode.rewards.push(reward);
    if (!terminated && !truncated) return;
    const { alpha, gamma, baseline } = this.settings();
    const { states, rewards } = this.episode;
    const returns = rewardsToGo(rewards, gamma, terminated ? 0 : this.value(obs));
    const weights = returns.map((value, t) => (baseline ? value - this.value(states[t] ?? 0) : value));
    // Like most implementations, without gamma^t: late steps of an episode count as much as early ones.
    const gradient = policyGradient(this.q, this.episode, weights, 1);
    for (const [index, slope] of gradient) this.q[index] = (this.q[index] ?? 0) + alpha * slope;
    for (const [t, visited] of states.entries()) {
      this.values[visited] = this.value(visited) + VALUE_STEP * ((returns[t] ?? 0) - this.value(visited));
    }
    this.abandon();
  }

  value(state: number): number {
    return this.values[state] ?? 0;
  }

  policy(state: number): Float64Array {
    return probabilities(this.q, state);
  }

  abandon(): void {
    this.episode = { states: [], actions: [], rewards: [] };
  }

  forget(state: number): void {
    this.q.fill(0, state * ACTION_COUNT, (state + 1) * ACTION_COUNT);
    this.values[state] = 0;
  }
}
