import { describe, expect, test } from "vitest";
import type { MeasureDifference } from "../../api/types";
import { judge, judgeMeasure, judgmentClass, judgmentSign, judgmentText, type Estimate } from "./judgment";

const point = (value: number | null): Estimate => ({ value, low: null, high: null });
const around = (value: number, width: number): Estimate => ({ value, low: value - width, high: value + width });

describe("a value against the baseline", () => {
  test("follows the direction of the metric, not the size", () => {
    expect(judge(point(5), point(3), "higher").relation).toBe("better");
    expect(judge(point(5), point(3), "lower").relation).toBe("worse");
    expect(judge(point(-5), point(-3), "lower").relation).toBe("better");
    expect(judge(point(5), point(3), "").relation).toBe("unknown");
  });

  test("zero is a value, missing is not", () => {
    expect(judge(point(0), point(-1), "higher").relation).toBe("better");
    expect(judge(point(1), point(0), "lower").relation).toBe("worse");
    expect(judge(point(0), point(0), "higher").relation).toBe("same");
    expect(judge(point(null), point(0), "higher").relation).toBe("unknown");
    expect(judge(point(0), point(null), "higher").relation).toBe("unknown");
    expect(judge(point(NaN), point(1), "higher").relation).toBe("unknown");
  });

  test("exceeds noise if the intervals are apart, or as tested", () => {
    expect(judge(around(10, 1), around(5, 1), "higher").exceedsNoise).toBe(true);
    expect(judge(around(5, 1), around(10, 1), "higher").exceedsNoise).toBe(true);
    expect(judge(around(10, 3), around(5, 3), "higher").exceedsNoise).toBe(false);
    expect(judge(around(10, 3), around(5, 3), "higher", true).exceedsNoise).toBe(true);
    expect(judge(point(10), around(5, 3), "higher").exceedsNoise).toBeNull();
  });

  test("is never shown by color alone", () => {
    for (const better of ["higher", "lower"] as const)
      for (const [a, b] of [
        [around(9, 1), around(1, 1)],
        [around(1, 1), around(9, 1)],
      ] as const) {
        const judgment = judge(a, b, better);
        expect(judgmentClass(judgment)).toBe(judgment.relation);
        expect(judgmentSign(judgment)).toBe(judgment.relation === "better" ? "▲" : "▼");
        expect(judgmentText(judgment, "base")).toBe(`${judgment.relation} than base, more than noise`);
      }
  });

  test("has a hollow sign and no color if it may be noise", () => {
    const noise = judge(around(10, 9), around(5, 9), "higher");
    expect([judgmentSign(noise), judgmentClass(noise)]).toEqual(["△", "maybe-noise"]);
    expect(judgmentText(noise, "base")).toBe("better than base, not more than noise");
    const single = judge(point(1), point(2), "higher");
    expect([judgmentSign(single), judgmentClass(single)]).toEqual(["▽", "maybe-noise"]);
    expect(judgmentText(single, "base")).toContain("no interval");
  });
});

describe("a measure that the record has tested", () => {
  const steps = { measure: "steps_to_threshold", better: "fast", exceeds_noise: true, problem: "" } as MeasureDifference;

  test("is judged as the record says", () => {
    expect(judgeMeasure(steps, "fast")).toEqual({ relation: "better", exceedsNoise: true });
    expect(judgeMeasure(steps, "base")).toEqual({ relation: "worse", exceedsNoise: true });
    expect(judgeMeasure({ ...steps, exceeds_noise: null, problem: "one seed" }, "fast").exceedsNoise).toBeNull();
  });

  test("is the same or unknown without a better side", () => {
    expect(judgeMeasure({ ...steps, better: null, exceeds_noise: false }, "fast").relation).toBe("same");
    expect(judgeMeasure({ ...steps, better: null, exceeds_noise: null, problem: "2 runs have none" }, "fast").relation).toBe("unknown");
  });
});
