import { describe, expect, it } from "vitest";
import { settingsText } from "./format";

describe("how an episode on request was played", () => {
  it("names what differs from an evaluation", () => {
    const plain = { sampled: false, max_steps: null, role: "", overrides: {} };
    expect(settingsText(plain)).toBe("");
    expect(settingsText({ sampled: true, max_steps: 200, role: "", overrides: { "env.kwargs.gravity": -8 } })).toBe(
      "sampled actions, at most 200 steps, env.kwargs.gravity=-8",
    );
    expect(settingsText({ ...plain, role: "seeker" })).toBe("a person as seeker");
  });
});
