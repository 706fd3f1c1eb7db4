import { computed, signal } from "@preact/signals";
import { describe, expect, it } from "vitest";
import { synchronize } from "./sync";

function position(length: number) {
  const step = signal(0);
  return {
    step,
    length: computed(() => length),
    playing: signal(false),
    speed: signal(1),
    seek: (wanted: number) => (step.value = Math.max(0, Math.min(length, wanted))),
  };
}

describe("two episodes side by side", () => {
  it("move together, whichever is moved", () => {
    const [a, b] = [position(100), position(100)];
    a.seek(7);
    synchronize(a, b);
    expect(b.step.value).toBe(7);
    b.seek(20);
    expect(a.step.value).toBe(20);
  });
  it("the shorter one waits at its end while the longer one goes on", () => {
    const [a, b] = [position(100), position(30)];
    synchronize(a, b);
    a.seek(60);
    expect([a.step.value, b.step.value]).toEqual([60, 30]);
    a.seek(61);
    expect([a.step.value, b.step.value]).toEqual([61, 30]);
    a.seek(10);
    expect([a.step.value, b.step.value]).toEqual([10, 10]);
  });
  it("ends when told to", () => {
    const [a, b] = [position(9), position(9)];
    synchronize(a, b)();
    a.seek(5);
    expect(b.step.value).toBe(0);
  });
});
