import { describe, expect, test } from "vitest";
import { Random } from "../random";
import { ACTION_COUNT, ACTIONS, GridEnv, modelOf, type Outcome } from "./dynamics";
import cases from "./gymnasium.cases.json";
import { sweep } from "./planning";
import { PRESETS } from "./presets";
import { isState, worldOf, type World } from "./world";

interface GymnasiumCase {
  gamma: number;
  actions: string[];
  transitions: [probability: number, next: number, reward: number, terminated: boolean][][][];
  values: number[];
}

function worldNamed(key: string): World {
  const preset = PRESETS.find((one) => one.key === key);
  if (!preset) throw new Error(key);
  return preset.world;
}

const known = cases as unknown as Record<string, GymnasiumCase>;

describe.each(Object.keys(known))("%s is Gymnasium's environment", (key) => {
  const { gamma, actions, transitions, values } = known[key] as GymnasiumCase;
  const world = worldNamed(key);
  const model = modelOf(world);
  const states = world.cells.map((_, i) => i).filter((i) => isState(world, i));

  test("every transition is the same", () => {
    const order = (a: Outcome, b: Outcome) => a.next - b.next || a.reward - b.reward;
    for (const state of states) {
      for (const [action, name] of ACTIONS.entries()) {
        const found = [...(model[state * ACTION_COUNT + action] ?? [])].sort(order);
        const expected = (transitions[state]?.[actions.indexOf(name)] ?? [])
          .map(([probability, next, reward, terminated]) => ({ probability, next, reward, terminated }))
          .sort(order);
        expect(found.map(({ probability: _, ...rest }) => rest)).toEqual(expected.map(({ probability: _, ...rest }) => rest));
        found.forEach((outcome, i) => expect(outcome.probability).toBeCloseTo(expected[i]?.probability ?? 0, 12));
      }
    }
  });

  test("value iteration gives the optimal values of policy iteration with a linear solver", () => {
    const found = new Float64Array(world.cells.length);
    const q = new Float64Array(found.length * ACTION_COUNT);
    for (let i = 0; i < 3000; i++) sweep(world, model, found, q, gamma);
    for (const state of states) expect(found[state]).toBeCloseTo(values[state] ?? NaN, 8);
  });
});

test.each(PRESETS)("probabilities of $name add up to 1", ({ world }) => {
  modelOf(world).forEach((outcomes, i) => {
    const sum = outcomes.reduce((total, outcome) => total + outcome.probability, 0);
    expect(sum).toBeCloseTo(isState(world, Math.floor(i / ACTION_COUNT)) ? 1 : 0, 12);
  });
});

test("wind carries a move upward until a wall or an edge, over goals and pits", () => {
  const right = ACTIONS.indexOf("right");
  const next = (map: string[], wind: number[]) => {
    const world = worldOf(map, { wind });
    return modelOf(world)[world.start * ACTION_COUNT + right]?.[0];
  };
  expect(next(["...", "...", "S.."], [2, 0, 0])?.next).toBe(1);
  expect(next(["...", ".#.", "S.."], [2, 0, 0])?.next).toBe(7);
  expect(next(["...", ".H.", ".G.", "S.."], [2, 0, 0])).toMatchObject({ next: 4, terminated: true, reward: -1 });
  expect(next(["...", "...", "S.."], [0, 2, 0])?.next).toBe(7);
});

test("an episode is terminated at the goal and truncated at the step limit", () => {
  const env = new GridEnv(worldOf(["S.G"], { maxSteps: 3, stepReward: -0.5 }), new Random(0));
  const [left, right] = [ACTIONS.indexOf("left"), ACTIONS.indexOf("right")];
  expect(env.step(right)).toEqual({ obs: 1, reward: -0.5, terminated: false, truncated: false });
  expect(env.step(right)).toEqual({ obs: 2, reward: 1, terminated: true, truncated: false });
  expect(() => env.step(right)).toThrow("reset()");
  expect(env.reset()).toBe(0);
  env.step(left);
  env.step(left);
  expect(env.step(left)).toMatchObject({ terminated: false, truncated: true });
  expect(() => env.step(left)).toThrow("reset()");
  // At the limit, a goal still terminates.
  const exact = new GridEnv(worldOf(["S.G"], { maxSteps: 2 }), new Random(0));
  exact.step(right);
  expect(exact.step(right)).toMatchObject({ terminated: true, truncated: false });
});

test("the environment has the frequencies of its model", () => {
  const world = worldOf(["...", ".S.", "..."], { slip: 0.4, maxSteps: 1 });
  const env = new GridEnv(world, new Random(5));
  const counts = new Map<number, number>();
  for (let i = 0; i < 20_000; i++) {
    env.reset();
    const { obs } = env.step(ACTIONS.indexOf("down"));
    counts.set(obs, (counts.get(obs) ?? 0) + 1);
  }
  const shares = [7, 3, 5].map((cell) => (counts.get(cell) ?? 0) / 20_000);
  [0.6, 0.2, 0.2].forEach((share, i) => expect(Math.abs((shares[i] ?? 0) - share)).toBeLessThan(0.015));
});
