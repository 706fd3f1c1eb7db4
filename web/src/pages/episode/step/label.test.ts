import { describe, expect, it } from "vitest";
import { fittedLabel } from "./label";

describe("the label of a number", () => {
  it("has its unit if there is room", () => {
    expect(fittedLabel("pole angle", "rad", true)).toEqual({ label: "pole angle", unit: "rad" });
    expect(fittedLabel("pole angular speed", "rad/s", true)).toEqual({ label: "pole angular speed", unit: "" });
    expect(fittedLabel("pole angular speed", "rad/s", false).unit).toBe("rad/s");
  });

  it("is never longer than what fits next to a bar", () => {
    for (const label of ["x", "cart position", "pole angular velocity", "a very long name of a component"])
      for (const unit of ["", "m", "rad/s"]) {
        const shown = fittedLabel(label, unit, true);
        expect(`${shown.label} ${shown.unit}`.trim().length).toBeLessThanOrEqual(18);
      }
    expect(fittedLabel("pole angular velocity", "rad/s", true).label).toBe("pole angular velo…");
  });

  it("does not repeat what the label says", () => {
    expect(fittedLabel("reward", "reward", false).unit).toBe("");
    expect(fittedLabel("learned reward", "learned reward", false).unit).toBe("");
    expect(fittedLabel("advantage", "learned reward", false).unit).toBe("learned");
  });
});
