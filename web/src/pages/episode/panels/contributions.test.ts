import { describe, expect, it } from "vitest";
import { heat, ranked, stepLabels } from "./contributions";

describe("contributions", () => {
  it("ranks by size, whatever the sign, and keeps the sign", () => {
    const rows = ranked({ "obs/x": 0.5, "obs/y": -2, "obs/z": 1 }, new Map([["obs/y", "height"]]), 2);
    expect(rows).toEqual([
      { column: "obs/y", label: "height", value: -2, share: 1 },
      { column: "obs/z", label: "z", value: 1, share: 0.5 },
    ]);
  });
  it("draws nothing where nothing contributed", () => {
    expect(ranked({ a: 0, b: 0 }, new Map(), 9).map(({ share }) => share)).toEqual([0, 0]);
    expect([...heat([0, 0])].filter((_, i) => i % 4 === 3)).toEqual([0, 0]);
  });
  it("names the step of an earlier observation", () => {
    const past = { "3": 0.1, "12": -0.4 };
    expect(ranked(past, stepLabels(past), 1)).toEqual([{ column: "12", label: "observation of step 12", value: -0.4, share: 1 }]);
  });
  it("is opaque where it mattered most", () => {
    expect([...heat([1, 4, 2])].filter((_, i) => i % 4 === 3)).toEqual([55, 220, 110]);
  });
});
