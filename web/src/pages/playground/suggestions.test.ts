import { describe, expect, test } from "vitest";
import { Experiment } from "./bandit/experiment";
import type { BanditPolicy } from "./bandit/settings";
import { SUGGESTIONS as BANDIT } from "./bandit/suggestions";
import { greedyPath } from "./grid/planning";
import { Session } from "./grid/session";
import { SUGGESTIONS as GRID } from "./grid/suggestions";
import type { GridView } from "./grid/view";

/** What the texts of the suggestions claim is what users will see. */
function viewOf<T>(suggestions: readonly { title: string; choices: readonly { label: string; view: T }[] }[], title: string, label: string): T {
  const view = suggestions.find((one) => one.title === title)?.choices.find((one) => one.label === label)?.view;
  if (!view) throw new Error(`${title} ${label}`);
  return view;
}

function session(title: string, label: string, steps: number): Session {
  const { world, settings }: GridView = viewOf(GRID, title, label);
  const found = new Session(world, settings);
  for (let i = 0; i < steps && !found.isDone; i++) found.step();
  return found;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

describe("grid world", () => {
  test("Safe or short?", () => {
    const [q, sarsa] = [session("Safe or short?", "Q-learning", 100_000), session("Safe or short?", "SARSA", 100_000)];
    const length = (one: Session) => greedyPath(one.world, one.model, one.table).cells.length - 1;
    expect(length(q)).toBe(13);
    expect(length(sarsa)).toBeGreaterThanOrEqual(15);
    const late = (one: Session) => mean(one.returns.y.slice(-50));
    expect(late(sarsa)).toBeGreaterThan(late(q) + 5);
  });

  test("How do values spread?", () => {
    const planned = session("How do values spread?", "Sweep by sweep", 14);
    expect(planned.value(planned.world.start)).toBe(0);
    planned.step();
    expect(planned.value(planned.world.start)).toBeGreaterThan(0);
  });

  test("What do traces change?", () => {
    const episodes = (label: string) => {
      const one = session("What do traces change?", label, 0);
      while (one.evaluate().goal < 1 || one.evaluate().meanReturn < 1) while (!one.step());
      return one.episodes;
    };
    expect(episodes("λ = 0.9")).toBeLessThan(episodes("λ = 0") / 2);
  });

  test("Is the bridge worth it?", () => {
    const right = (label: string) => {
      const one = session("Is the bridge worth it?", label, 1000);
      expect(one.isDone).toBe(true);
      return [...one.arrows(one.world.start)].indexOf(1) === 2;
    };
    expect(right("Firm")).toBe(true);
    expect(right("Slippery")).toBe(false);
  });

  test("Luck and step size", () => {
    const scores = (label: string) => {
      const one = session("Luck and step size", label, 200_000);
      return Array.from({ length: 30 }, () => {
        for (let i = 0; i < 1000; i++) one.step();
        return one.evaluate().meanReturn;
      });
    };
    const [large, small] = [scores("α = 0.9"), scores("α = 0.05")];
    expect(mean(small)).toBeGreaterThan(mean(large) + 0.1);
    expect(mean(small)).toBeGreaterThan(0.6);
  });

  test("Why a baseline?", () => {
    const late = (label: string) => mean(session("Why a baseline?", label, 100_000).returns.y.slice(-10));
    expect(late("With")).toBeGreaterThan(-40);
    expect(late("Without")).toBeLessThan(-400);
  });

  test("Why does it stand still?", () => {
    const late = session("Why does it stand still?", "REINFORCE on the cliff", 50_000).returns.y.slice(-10);
    expect(mean(late)).toBe(-500);
  });
});

describe("bandit", () => {
  /** Fewer than the page has, for time; what is compared differs by much more than the noise. */
  const REPETITIONS = 40;
  function ran(title: string, label: string) {
    const experiment = new Experiment({ ...viewOf(BANDIT, title, label).settings, repetitions: REPETITIONS });
    while (!experiment.isDone) experiment.step();
    return (policy: BanditPolicy) => {
      const found = experiment.results.find((result) => result.policy === policy);
      if (!found) throw new Error(policy);
      return found.regret;
    };
  }
  const last = (values: readonly number[]) => values[values.length - 1] ?? NaN;

  test("Can greed get stuck?", () => {
    const [stuck, curious] = [ran("Can greed get stuck?", "ε = 0")("epsilon_greedy"), ran("Can greed get stuck?", "ε = 0.1")("epsilon_greedy")];
    expect(last(stuck.high)).toBeGreaterThan(2 * last(curious.high));
  });

  test("Straight or bent?", () => {
    const curves = ran("Straight or bent?", "10,000 steps");
    const bend = (policy: BanditPolicy) => {
      const { mean: regret } = curves(policy);
      return (last(regret) - (regret[regret.length / 2 - 1] ?? NaN)) / (regret[regret.length / 2 - 1] ?? NaN);
    };
    expect(bend("epsilon_greedy")).toBeGreaterThan(0.85);
    expect(bend("ucb")).toBeLessThan(0.4);
    expect(bend("thompson")).toBeLessThan(0.4);
    expect(last(curves("ucb").mean)).toBeLessThan(last(curves("epsilon_greedy").mean));
  });

  test("Which problems are hard?", () => {
    const share = (label: string) => {
      const experiment = new Experiment({ ...viewOf(BANDIT, "Which problems are hard?", label).settings, repetitions: REPETITIONS });
      while (experiment.steps < 1000) experiment.step();
      return mean(experiment.results.map(({ bestShare }) => last(bestShare.y)));
    };
    expect(share("Far apart")).toBeGreaterThan(share("Almost equal") + 0.3);
  });

  test("How optimistic should it be?", () => {
    const regret = (label: string) => ran("How optimistic should it be?", label)("ucb");
    expect(last(regret("c = 0.5").mean)).toBeLessThan(last(regret("c = 1").mean));
    expect(last(regret("c = 0").high)).toBeGreaterThan(2 * last(regret("c = 0.5").high));
  });
});
