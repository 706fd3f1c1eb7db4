import { expect, test } from "vitest";
import { Random } from "./random";

function samples(count: number, draw: () => number): { mean: number; variance: number } {
  const values = Array.from({ length: count }, draw);
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  return { mean, variance: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / count };
}

test("the same seed gives the same numbers, other seeds and streams give others", () => {
  const first = (random: Random) => Array.from({ length: 5 }, () => random.uniform());
  expect(first(new Random(7))).toEqual(first(new Random(7)));
  const starts = [0, 1, 2, 3].flatMap((seed) => [0, 1, 2].map((path) => first(Random.stream(seed, path))[0]));
  expect(new Set(starts).size).toBe(12);
});

test("streams of the same seed are uncorrelated", () => {
  const [a, b] = [Random.stream(1, 0), Random.stream(1, 1)];
  const { mean } = samples(20_000, () => (a.uniform() - 0.5) * (b.uniform() - 0.5));
  expect(Math.abs(mean)).toBeLessThan(4 * (1 / 12 / Math.sqrt(20_000)));
});

test.each([
  ["uniform", (random: Random) => random.uniform(), 1 / 2, 1 / 12],
  ["normal", (random: Random) => random.normal(), 0, 1],
  ["gamma", (random: Random) => random.gamma(3.5), 3.5, 3.5],
  ["beta", (random: Random) => random.beta(3, 7), 0.3, (3 * 7) / (100 * 11)],
  ["choice", (random: Random) => random.choice([0.2, 0.3, 0.5]), 1.3, 0.3 + 4 * 0.5 - 1.3 ** 2],
] as const)("%s has the mean and the variance of its distribution", (_, draw, mean, variance) => {
  const random = new Random(3);
  const found = samples(50_000, () => draw(random));
  expect(Math.abs(found.mean - mean)).toBeLessThan(5 * Math.sqrt(variance / 50_000));
  expect(Math.abs(found.variance / variance - 1)).toBeLessThan(0.05);
});
