import { describe, expect, test } from "vitest";
import { Random } from "../random";
import { ACTION_COUNT, ACTIONS, GridEnv, modelOf } from "./dynamics";
import { backup, bestActions, forecast, greedyPath, greedyPolicy, solvedValues, sweep } from "./planning";
import { PRESETS } from "./presets";
import { isState, worldOf, type World } from "./world";

function optimal(world: World, gamma: number, sweeps = 3000) {
  const [values, q] = [new Float64Array(world.cells.length), new Float64Array(world.cells.length * ACTION_COUNT)];
  const model = modelOf(world);
  for (let i = 0; i < sweeps; i++) sweep(world, model, values, q, gamma);
  return { values, q, model };
}

describe.each(PRESETS)("$name", ({ world, gamma }) => {
  test("the values are those of the greedy policy, solved exactly", () => {
    const discount = Math.min(gamma, 0.99); // without a discount, other policies may never end
    const { values, q, model } = optimal(world, discount);
    const exact = solvedValues(world, model, greedyPolicy(q), discount);
    world.cells.forEach((_, i) => isState(world, i) && expect(values[i]).toBeCloseTo(exact[i] ?? NaN, 6));
  });

  test("no action is better than the greedy one", () => {
    const discount = Math.min(gamma, 0.99);
    const { q, model } = optimal(world, discount);
    const exact = solvedValues(world, model, greedyPolicy(q), discount);
    for (let i = 0; i < q.length; i++) {
      const state = Math.floor(i / ACTION_COUNT);
      if (isState(world, state)) expect(backup(model, exact, state, i % ACTION_COUNT, discount)).toBeLessThan((exact[state] ?? 0) + 1e-6);
    }
  });

  test("the optimal policy earns more and reaches a goal more often than a random one", () => {
    const { q, model } = optimal(world, gamma);
    const [best, random] = [greedyPolicy(q), new Float64Array(q.length).fill(1 / ACTION_COUNT)].map((policy) => forecast(world, model, policy));
    expect(best?.meanReturn).toBeGreaterThan(random?.meanReturn ?? NaN);
    expect(best?.goal).toBeGreaterThan(0.5);
    expect(best?.meanLength).toBeLessThan(world.maxSteps);
  });
});

test("the first sweep values only the neighbors of the goal", () => {
  const world = worldOf(["S..G"]);
  expect([...optimal(world, 0.5, 1).values]).toEqual([0, 0, 1, 0]);
  expect([...optimal(world, 0.5, 3).values]).toEqual([0.25, 0.5, 1, 0]);
});

test("forecasts agree with played episodes", () => {
  const world = worldOf(["S..H", "...G"], { slip: 0.3, stepReward: -0.1, maxSteps: 12 });
  const policy = new Float64Array(world.cells.length * ACTION_COUNT).fill(0.25);
  const expected = forecast(world, modelOf(world), policy);
  const [env, random] = [new GridEnv(world, new Random(1)), new Random(2)];
  const count = 20_000;
  const sums = { meanReturn: 0, meanLength: 0, goal: 0 };
  for (let i = 0; i < count; i++) {
    env.reset();
    for (;;) {
      const { obs, reward, terminated, truncated } = env.step(random.below(ACTION_COUNT));
      sums.meanReturn += reward / count;
      sums.meanLength += 1 / count;
      if (terminated && world.cells[obs]?.kind === "goal") sums.goal += 1 / count;
      if (terminated || truncated) break;
    }
  }
  expect(Math.abs(sums.meanReturn - expected.meanReturn)).toBeLessThan(0.03);
  expect(Math.abs(sums.meanLength - expected.meanLength)).toBeLessThan(0.1);
  expect(Math.abs(sums.goal - expected.goal)).toBeLessThan(0.015);
});

test("the optimal path over the windy grid has 15 steps, that along the cliff 13", () => {
  for (const [key, steps] of [["windy", 15], ["cliff", 13]] as const) {
    const world = PRESETS.find((preset) => preset.key === key)?.world as World;
    const { q, model } = optimal(world, 1, 100);
    const path = greedyPath(world, model, q);
    expect(path.end).toBe("goal");
    expect(path.cells.length - 1).toBe(steps);
  }
});

test("a path ends in a loop if nothing was learned and among walls", () => {
  const world = worldOf(["S#G"]);
  const { q, model } = optimal(world, 0.9);
  expect(greedyPath(world, model, q)).toEqual({ cells: [0], end: "loop" });
});

test("actions with the same value are all best ones", () => {
  expect(bestActions([0.1 + 0.2, 0.3, 0, -1], 0)).toEqual([0, 1]);
  expect(bestActions([0, 0, 0, 0], 0)).toEqual([0, 1, 2, 3]);
  expect(bestActions([-100, -13, -14, -100], 0)).toEqual([ACTIONS.indexOf("down")]);
});
