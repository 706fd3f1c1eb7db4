import { describe, expect, it } from "vitest";
import { afterKey, dueSteps, keyName } from "./held";

describe("keys while playing", () => {
  it("have the names of the environment's keys", () => {
    expect(["ArrowLeft", " ", "W", "Enter", "1"].map(keyName)).toEqual(["left", "space", "w", "return", "1"]);
  });
  it("are held from press to release, the latest last", () => {
    let held: readonly string[] = [];
    held = afterKey(held, "left", true);
    held = afterKey(held, "up", true);
    held = afterKey(held, "left", true); // keys repeat while they are held
    expect(held).toEqual(["up", "left"]);
    expect(afterKey(held, "up", false)).toEqual(["left"]);
  });
});

describe("steps that are due", () => {
  it("is none before the time", () => {
    expect(dueSteps(99, 100, 20, 4)).toEqual({ steps: 0, next: 100 });
  });
  it("is one per period, and keeps the pace", () => {
    expect(dueSteps(105, 100, 20, 4)).toEqual({ steps: 1, next: 120 });
    expect(dueSteps(141, 100, 20, 4)).toEqual({ steps: 3, next: 160 });
  });
  it("does not catch up after a long pause", () => {
    expect(dueSteps(5000, 100, 20, 4)).toEqual({ steps: 4, next: 5000 });
  });
});
