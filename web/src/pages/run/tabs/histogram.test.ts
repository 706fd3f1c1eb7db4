import { expect, it } from "vitest";
import { histogram } from "./histogram";

it.each([[[1, 2, 3, 4, 5, 100]], [[5]], [[7, 7, 7]], [[NaN, 1, Infinity, 2]], [Array.from({ length: 500 }, (_, i) => Math.sin(i))]])(
  "counts every finite value once (%#)", (values) => {
    const { edges, counts } = histogram(values);
    const finite = values.filter(Number.isFinite);
    expect(edges).toHaveLength(counts.length + 1);
    expect(counts.reduce((a, b) => a + b, 0)).toBe(finite.length);
    expect(edges[0]!).toBeLessThanOrEqual(Math.min(...finite));
    expect(edges.at(-1)!).toBeGreaterThanOrEqual(Math.max(...finite));
  });
it("has an empty bin without values", () => expect(histogram([])).toEqual({ edges: [0, 1], counts: [0] }));
