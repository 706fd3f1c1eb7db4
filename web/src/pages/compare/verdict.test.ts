import { describe, expect, test } from "vitest";
import type { Improvement } from "../../api/types";
import { improvementOver, verdict } from "./verdict";

const one = (value: number) => value.toFixed(1);
const FAST: Improvement = {
  a: "fast-lr",
  b: "base",
  probability: 0.93,
  low: 0.75,
  high: 1,
  difference: { mean: 12.34, low: 4.1, high: 20.2 },
  better: "fast-lr",
  exceeds_noise: true,
  problem: "",
  caution: "",
  measures: [],
};
const fast = { ref: "fast-lr", name: "fast-lr", seeds: 5 };
const base = { ref: "base", name: "base", seeds: 5 };

describe("the verdict", () => {
  test("names the difference, its interval, the probability and the seeds", () => {
    expect(verdict(FAST, fast, base, one)).toEqual({
      outcome: "better",
      sentence: "fast-lr is better than base: IQM +12.3 [4.1, 20.2], more than noise (P(better) 0.93, 5 against 5 seeds).",
    });
  });

  test("repeats the caution of the record", () => {
    const few = { ...FAST, caution: "a+b+c has 3 seeds: with fewer than 5, noise is underestimated" };
    for (const exceeds_noise of [true, false])
      expect(verdict({ ...few, exceeds_noise }, fast, { ref: "a+b+c", name: "base", seeds: 3 }, one).sentence).toMatch(
        /5 against 3 seeds\)\. Caution: base has 3 seeds: with fewer than 5, noise is underestimated\.$/,
      );
  });

  test("turns around with the baseline", () => {
    const turned = improvementOver([FAST], "base", "fast-lr")!;
    expect(verdict(turned, base, fast, one)).toEqual({
      outcome: "worse",
      sentence: "base is worse than fast-lr: IQM -12.3 [-20.2, -4.1], more than noise (P(better) 0.07, 5 against 5 seeds).",
    });
    expect(turned.low).toBe(0);
    expect(turned.high).toBe(0.25);
    expect(improvementOver([turned], "fast-lr", "base")!.difference).toEqual(FAST.difference);
  });

  test("uses the record itself if it has this order", () => {
    expect(improvementOver([FAST], "fast-lr", "base")).toBe(FAST);
    expect(improvementOver([FAST], "fast-lr", "other")).toBeNull();
  });

  test("says that a difference is not more than noise, whatever its sign", () => {
    for (const mean of [3, -3, 0]) {
      const entry = { ...FAST, difference: { mean, low: -5, high: 8 }, exceeds_noise: false };
      const result = verdict(entry, fast, base, one);
      expect(result.outcome).toBe("noise");
      expect(result.sentence).toContain("not more than noise");
      expect(result.sentence).not.toMatch(/is (better|worse)/);
    }
  });

  test("needs two seeds per side", () => {
    const single = { ...FAST, difference: { mean: 2, low: null, high: null }, low: null, high: null, exceeds_noise: null };
    const result = verdict(single, { ref: "k3jx", name: "lander", seeds: 1 }, base, one);
    expect(result.outcome).toBe("unknown");
    expect(result.sentence).toContain("needs at least 2 seeds per side (1 against 5 seeds; IQM +2.0)");
  });

  test("of several environments has no difference of returns", () => {
    const entry = { ...FAST, difference: null };
    expect(verdict(entry, fast, base, one)).toEqual({
      outcome: "better",
      sentence: "fast-lr is better than base by more than noise (P(better) 0.93, 5 against 5 seeds).",
    });
    expect(verdict(improvementOver([entry], "base", "fast-lr"), base, fast, one).outcome).toBe("worse");
  });

  test("gives the reason why two sides cannot be compared", () => {
    const entry = { ...FAST, probability: null, difference: null, better: null, exceeds_noise: null, problem: "k3jx has no evaluation yet" };
    expect(verdict(entry, { ref: "k3jx", name: "lander", seeds: 0 }, base, one).sentence).toBe(
      "lander and base cannot be compared: lander has no evaluation yet.",
    );
    expect(verdict(null, fast, base, one).outcome).toBe("unknown");
  });
});
