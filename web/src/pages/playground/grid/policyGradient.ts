/** The policy gradient of a softmax policy with one preference per state and action. Pure functions. */
import { ACTION_COUNT } from "./dynamics";

export interface Episode {
  states: number[];
  actions: number[];
  rewards: number[];
}

/** Returns the softmax of the preferences of a state. */
export function probabilities(preferences: ArrayLike<number>, state: number): Float64Array {
  const found = new Float64Array(ACTION_COUNT);
  let highest = -Infinity;
  for (let action = 0; action < ACTION_COUNT; action++) highest = Math.max(highest, preferences[state * ACTION_COUNT + action] ?? 0);
  let sum = 0;
  for (let action = 0; action < ACTION_COUNT; action++) {
    sum += found[action] = Math.exp((preferences[state * ACTION_COUNT + action] ?? 0) - highest);
  }
  return found.map((value) => value / sum);
}

/** Returns the discounted return from each step on. `after`: value of the state behind the last one. */
export function rewardsToGo(rewards: readonly number[], gamma: number, after = 0): number[] {
  const returns = new Array<number>(rewards.length);
  let rest = after;
  for (let t = rewards.length - 1; t >= 0; t--) returns[t] = rest = (rewards[t] ?? 0) + gamma * rest;
  return returns;
}

/** Returns the gradient of the sum over steps of discount^t * weight_t * log pi(a_t | s_t), for the preferences that it
 * is not zero for. With returns as weights and their gamma as discount, its mean over episodes is the gradient of the
 * value of the start. */
export function policyGradient(preferences: ArrayLike<number>, episode: Episode, weights: readonly number[], discount: number): Map<number, number> {
  const gradient = new Map<number, number>();
  let factor = 1;
  for (const [t, state] of episode.states.entries()) {
    const chances = probabilities(preferences, state);
    for (let action = 0; action < ACTION_COUNT; action++) {
      const index = state * ACTION_COUNT + action;
      const slope = Number(action === episode.actions[t]) - (chances[action] ?? 0);
      gradient.set(index, (gradient.get(index) ?? 0) + factor * (weights[t] ?? 0) * slope);
    }
    factor *= discount;
  }
  return gradient;
}
