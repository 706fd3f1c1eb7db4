import { describe, expect, test } from "vitest";
import { Random } from "../random";
import { ACTION_COUNT, ACTIONS, GridEnv, modelOf } from "./dynamics";
import { ActionValueLearner } from "./learners";
import { forecast, greedyPath, greedyPolicy, solvedValues, sweep } from "./planning";
import { policyGradient, probabilities, rewardsToGo, type Episode } from "./policyGradient";
import { PRESETS } from "./presets";
import { Session } from "./session";
import { DEFAULT_SETTINGS, type Settings } from "./settings";
import { isState, position, worldOf, type World } from "./world";

function learned(world: World, settings: Partial<Settings>, steps: number): Session {
  const session = new Session(world, { ...DEFAULT_SETTINGS, ...settings });
  for (let i = 0; i < steps; i++) session.step();
  return session;
}

function optimalTable(world: World, gamma: number): Float64Array {
  const [values, q] = [new Float64Array(world.cells.length), new Float64Array(world.cells.length * ACTION_COUNT)];
  for (let i = 0; i < 2000; i++) sweep(world, modelOf(world), values, q, gamma);
  return q;
}

const CLIFF = PRESETS.find((preset) => preset.key === "cliff")?.world as World;
const SMALL = worldOf(["S.#", "..H", "#.G"], { stepReward: -0.04 });

describe("Q-learning", () => {
  test.each([0, 0.8])("converges to the optimal action values, lambda %d", (lambda) => {
    const expected = optimalTable(SMALL, 0.9);
    const session = learned(SMALL, { gamma: 0.9, lambda, epsilon: 0.5, alpha: lambda ? 0.1 : 0.5 }, 60_000);
    for (let i = 0; i < expected.length; i++) {
      if (isState(SMALL, Math.floor(i / ACTION_COUNT))) expect(session.table[i]).toBeCloseTo(expected[i] ?? NaN, lambda ? 2 : 6);
    }
  });

  test("converges on slippery ground too, with small steps", () => {
    const world = { ...SMALL, slip: 0.2 };
    const expected = optimalTable(world, 0.9);
    const session = learned(world, { gamma: 0.9, epsilon: 1, alpha: 0.01 }, 400_000);
    for (let i = 0; i < expected.length; i++) expect(Math.abs((session.table[i] ?? 0) - (expected[i] ?? 0))).toBeLessThan(0.06);
  });

  test("bootstraps behind a truncation, not behind a termination", () => {
    const update = (end: { terminated: boolean; truncated: boolean }) => {
      const learner = new ActionValueLearner(2, () => ({ ...DEFAULT_SETTINGS, alpha: 1, gamma: 0.5 }), new Random(0));
      learner.q.fill(8, ACTION_COUNT);
      learner.observe(0, 2, { obs: 1, reward: 1, ...end });
      return learner.q[2];
    };
    expect(update({ terminated: false, truncated: true })).toBe(5);
    expect(update({ terminated: true, truncated: false })).toBe(1);
  });
});

describe("on the cliff", () => {
  // Exploration does not decline: SARSA learns the values of the policy that explores.
  const settings = { gamma: 1, epsilon: 0.1, alpha: 0.1 };
  const sarsa = learned(CLIFF, { ...settings, algorithm: "sarsa" }, 400_000);
  const qLearning = learned(CLIFF, { ...settings, algorithm: "q_learning" }, 400_000);
  const edgeCells = (session: Session) => {
    const path = greedyPath(CLIFF, session.model, session.table);
    expect(path.end).toBe("goal");
    return path.cells.filter((cell) => position(CLIFF, cell)[0] === 2).length;
  };

  test("Q-learning learns the shortest path, along the edge", () => {
    expect(greedyPath(CLIFF, qLearning.model, qLearning.table).cells.length - 1).toBe(13);
    expect(edgeCells(qLearning)).toBe(12);
  });

  test("SARSA learns a longer path away from the edge", () => {
    expect(greedyPath(CLIFF, sarsa.model, sarsa.table).cells.length - 1).toBeGreaterThan(13);
    expect(edgeCells(sarsa)).toBeLessThan(4);
  });

  test("SARSA earns more while it explores, Q-learning's greedy policy is better", () => {
    const recent = (session: Session) => session.returns.y.slice(-100).reduce((sum, value) => sum + value / 100, 0);
    expect(recent(sarsa)).toBeGreaterThan(recent(qLearning) + 5);
    expect(qLearning.evaluate().meanReturn).toBeGreaterThan(sarsa.evaluate().meanReturn);
  });
});

test("eligibility traces carry the reward of one episode to all its steps", () => {
  const world = worldOf(["S....G"]);
  const known = (lambda: number) => {
    const session = new Session(world, { ...DEFAULT_SETTINGS, algorithm: "sarsa", lambda });
    while (!session.step());
    return [...session.table].filter((value) => value > 0).length;
  };
  expect(known(0)).toBe(1);
  expect(known(0.9)).toBeGreaterThanOrEqual(5);
});

describe("REINFORCE", () => {
  const world = worldOf(["S.", "HG"], { stepReward: -0.1, slip: 0.2, maxSteps: 200 });
  const gamma = 0.9;
  const random = new Random(4);
  const preferences = Float64Array.from({ length: world.cells.length * ACTION_COUNT }, () => random.normal());
  const policyOf = (table: Float64Array) =>
    Float64Array.from(table, (_, i) => probabilities(table, Math.floor(i / ACTION_COUNT))[i % ACTION_COUNT] ?? 0);
  const slope = (measure: (table: Float64Array) => number, index: number) => {
    const [above, below] = [preferences.slice(), preferences.slice()];
    above[index] = (above[index] ?? 0) + 1e-5;
    below[index] = (below[index] ?? 0) - 1e-5;
    return (measure(above) - measure(below)) / 2e-5;
  };

  test("the gradient of an episode equals finite differences", () => {
    const episode: Episode = { states: [0, 1, 0, 1], actions: [2, 0, 3, 1], rewards: [1, -2, 0.5, 3] };
    const weights = rewardsToGo(episode.rewards, gamma);
    const objective = (table: Float64Array) =>
      episode.states.reduce((sum, state, t) => {
        const chance = probabilities(table, state)[episode.actions[t] ?? 0] ?? 0;
        return sum + gamma ** t * (weights[t] ?? 0) * Math.log(chance);
      }, 0);
    const gradient = policyGradient(preferences, episode, weights, gamma);
    preferences.forEach((_, i) => expect(gradient.get(i) ?? 0).toBeCloseTo(slope(objective, i), 6));
  });

  test("the mean gradient is that of the exact value of the start", () => {
    const model = modelOf(world);
    const value = (table: Float64Array) => solvedValues(world, model, policyOf(table), gamma)[world.start] ?? 0;
    const env = new GridEnv(world, new Random(8));
    const mean = new Float64Array(preferences.length);
    const count = 40_000;
    for (let i = 0; i < count; i++) {
      const episode: Episode = { states: [], actions: [], rewards: [] };
      for (let state = env.reset(); ; ) {
        const action = random.choice(probabilities(preferences, state));
        const { obs, reward, terminated, truncated } = env.step(action);
        episode.states.push(state);
        episode.actions.push(action);
        episode.rewards.push(reward);
        state = obs;
        if (terminated || truncated) break;
      }
      const gradient = policyGradient(preferences, episode, rewardsToGo(episode.rewards, gamma), gamma);
      for (const [index, part] of gradient) mean[index] = (mean[index] ?? 0) + part / count;
    }
    mean.forEach((part, i) => expect(Math.abs(part - slope(value, i))).toBeLessThan(0.015));
  });

  test.each([true, false])("improves the policy, baseline %s", (baseline) => {
    const before = forecast(SMALL, modelOf(SMALL), new Float64Array(SMALL.cells.length * ACTION_COUNT).fill(0.25));
    const session = learned(SMALL, { algorithm: "reinforce", alpha: 0.1, baseline }, 60_000);
    expect(session.returns.last).toBeGreaterThan(before.meanReturn + 0.5);
    expect(forecast(SMALL, session.model, greedyPolicy(session.table)).goal).toBe(1);
  });
});

test("a session with the same seed is the same, with another one it is not", () => {
  const table = (seed: number) => [...learned({ ...SMALL, slip: 0.3 }, { seed }, 2000).table];
  expect(table(1)).toEqual(table(1));
  expect(table(1)).not.toEqual(table(2));
});

test("a wall that is drawn while learning changes the policy, and what was learned elsewhere stays", () => {
  const world = worldOf(["S..", "...", "..G"]);
  const session = learned(world, { algorithm: "value_iteration" }, 50);
  expect(session.isDone).toBe(true);
  const before = session.value(8 - 1);
  session.setWorld(worldOf(["S..", "##.", "..G"]));
  expect(session.isDone).toBe(false);
  for (let i = 0; i < 50; i++) session.step();
  expect([...session.arrows(0)]).toEqual(ACTIONS.map((name) => Number(name === "right")));
  expect(session.value(7)).toBe(before);
  expect(session.value(3)).toBe(0);
});
