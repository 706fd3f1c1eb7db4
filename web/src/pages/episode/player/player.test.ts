import { describe, expect, it } from "vitest";
import { evaluation, outcomeScale, shareBelow } from "./evaluation";
import { momentStyle, nextMoment } from "./moments";
import { nextSpeed, Playback } from "./playback";
import { clusteredMoments, envelope, shareOf, stepAt } from "./timeline";
import { mediaType, unpackFrames } from "./unpack";

function packed(frames: [step: number, bytes: number[]][]): ArrayBuffer {
  const answer = new ArrayBuffer(4 + frames.reduce((sum, [, bytes]) => sum + 8 + bytes.length, 0));
  const view = new DataView(answer);
  view.setUint32(0, frames.length, true);
  let at = 4;
  for (const [step, bytes] of frames) {
    view.setUint32(at, step, true);
    view.setUint32(at + 4, bytes.length, true);
    new Uint8Array(answer).set(bytes, at + 8);
    at += 8 + bytes.length;
  }
  return answer;
}

describe("frames of an answer", () => {
  it("are unpacked with their steps", () => {
    const frames = unpackFrames(packed([[7, [0xff, 1]], [70_000, [0x89, 2, 3]], [9, []]]));
    expect(frames.map(({ step, bytes }) => [step, [...bytes]])).toEqual([[7, [0xff, 1]], [70_000, [0x89, 2, 3]], [9, []]]);
    expect(frames.slice(0, 2).map(({ bytes }) => mediaType(bytes))).toEqual(["image/jpeg", "image/png"]);
  });
  it("of an answer that is cut off are an error", () => {
    expect(() => unpackFrames(packed([[7, [1, 2, 3]]]).slice(0, 14))).toThrow(RangeError);
  });
});

describe("timeline", () => {
  it("returns the step that was drawn at a position", () => {
    for (const length of [1, 17, 5000]) {
      for (const step of [0, 1, Math.floor(length / 2), length]) {
        expect(stepAt(shareOf(step, length) * 10_000, 10_000, length)).toBe(step);
      }
    }
    expect(stepAt(-5, 100, 10)).toBe(0);
    expect(stepAt(500, 100, 10)).toBe(10);
    expect(stepAt(5, 0, 10)).toBe(0);
  });
  it("joins marks that are too close, and loses none", () => {
    const moments = Array.from({ length: 200 }, (_, i) => ({ step: (i * 37) % 1000, kind: i % 2 ? ("reward" as const) : ("value_drop" as const), size: 1, text: "" }));
    const clusters = clusteredMoments(moments, 1000, 400, 14);
    expect(clusters.flatMap(({ moments: some }) => some).length).toBe(200);
    for (let i = 1; i < clusters.length; i++) {
      expect((clusters[i]!.share - clusters[i - 1]!.share) * 400).toBeGreaterThanOrEqual(14);
    }
    for (const { moments: some, kind } of clusters) {
      expect(kind).toBe(some.some((moment) => moment.kind === "value_drop") ? "value_drop" : "reward");
    }
  });
  it("keeps the extremes of every part", () => {
    const values = Float64Array.from({ length: 1003 }, (_, i) => Math.sin(i * i));
    values[500] = 9;
    values[501] = NaN;
    const { low, high } = envelope(values, 100);
    expect(Math.max(...high)).toBe(9);
    expect(Math.min(...low)).toBe(Math.min(...values.filter((value) => !Number.isNaN(value))));
    // More parts than values: every part has one.
    expect([...envelope([1, 2], 4).low]).toEqual([1, 1, 2, 2]);
  });
});

describe("key moments", () => {
  it("are found before and after a step", () => {
    const moments = [{ step: 5 }, { step: 90 }, { step: 40 }];
    expect(nextMoment(moments, 5, 1)).toBe(40);
    expect(nextMoment(moments, 40, -1)).toBe(5);
    expect(nextMoment(moments, 90, 1)).toBeUndefined();
    expect(nextMoment([], 3, 1)).toBeUndefined();
  });
  it("of an unknown kind have words and a shape", () => {
    expect(momentStyle("lost_life")).toMatchObject({ label: "lost life", tone: "neutral" });
    expect(momentStyle("lost_life").shape).not.toBe("");
  });
});

describe("evaluation bar", () => {
  it("covers all values and zero", () => {
    expect(outcomeScale([3, NaN, 8], [5])).toEqual({ low: 0, high: 8 });
    expect(outcomeScale([-3, -1], undefined)).toEqual({ low: -3, high: 0 });
    expect(outcomeScale([NaN], [])).toBeNull();
    expect(outcomeScale([0])).toEqual({ low: -1, high: 1 });
  });
  it("shows the expected outcome if there is one, else the value", () => {
    const table: Record<string, Float64Array> = { value_learned: Float64Array.of(1, 3), return_learned: Float64Array.of(2, 4) };
    expect(evaluation((name) => table[name])).toMatchObject({ place: table["value_learned"], scale: { low: 0, high: 4 }, unit: "learned reward" });
    table["expected_outcome"] = Float64Array.of(NaN, NaN);
    expect(evaluation((name) => table[name])?.place).toBe(table["value_learned"]);
    table["expected_outcome"] = Float64Array.of(0.2, NaN);
    table["value_raw"] = Float64Array.of(10, 30);
    expect(evaluation((name) => table[name])).toMatchObject({ place: table["expected_outcome"], scale: { low: 0, high: 1 }, value: table["value_raw"] });
    expect(evaluation(() => undefined)).toBeNull();
  });
  it("is limited to its ends", () => {
    expect(shareBelow({ low: -10, high: 10 }, 5)).toBe(0.75);
    expect(shareBelow({ low: -10, high: 10 }, 50)).toBe(1);
  });
});

describe("playback", () => {
  it("moves at the rate whatever the frames per second of the page are", () => {
    for (const interval of [1000 / 144, 1000 / 60, 40]) {
      const playback = new Playback();
      let moved = 0;
      for (let now = 0; now <= 10_000 + 1e-6; now += interval) moved += playback.stepsAt(now, 50);
      expect(Math.abs(moved - 500)).toBeLessThanOrEqual(2);
    }
  });
  it("does not jump after a pause of the page", () => {
    const playback = new Playback();
    playback.stepsAt(0, 100);
    expect(playback.stepsAt(60_000, 100)).toBe(25);
  });
  it("has a next speed in both directions", () => {
    expect(nextSpeed([0.5, 1, 2], 1, 1)).toBe(2);
    expect(nextSpeed([0.5, 1, 2], 1, -1)).toBe(0.5);
    expect(nextSpeed([0.5, 1, 2], 2, 1)).toBe(2);
  });
});
