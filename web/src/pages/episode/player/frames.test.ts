import { describe, expect, it } from "vitest";
import { FrameCache } from "./frameCache";
import { SortedSteps } from "./nearest";
import { AHEAD, BEHIND, CHUNK, nextRequest, overviewStride, requestWidth, stepsOf } from "./plan";

/** Asks until nothing is missing; returns the requests. */
function loadAll(last: number, step: number, direction: 1 | -1, isMoving = true) {
  const had = new Set<number>();
  const requests = [];
  for (;;) {
    const wanted = nextRequest({ step, direction, isMoving, last, has: (other) => had.has(other) });
    if (!wanted) return { requests, had };
    const steps = stepsOf(wanted);
    expect(steps.length).toBeLessThanOrEqual(CHUNK);
    expect(steps.some((other) => !had.has(other))).toBe(true); // otherwise it would never end
    expect(steps.every((other) => other >= 0 && other <= last)).toBe(true);
    steps.forEach((other) => had.add(other));
    requests.push(wanted);
  }
}

describe("the plan of requests", () => {
  it("begins with the frame that is shown", () => {
    for (const direction of [1, -1] as const) {
      const { requests } = loadAll(5000, 2500, direction);
      expect(stepsOf(requests[0]!)).toContain(2500);
      expect(requests[0]!.every).toBe(1);
    }
  });
  it("covers an overview, then the surroundings, more of them ahead", () => {
    const { had } = loadAll(5000, 2500, 1);
    for (let step = 2500 - BEHIND + 1; step < 2500 + AHEAD; step++) expect(had.has(step)).toBe(true);
    for (let step = 0; step <= 5000; step += overviewStride(5000)) expect(had.has(step)).toBe(true);
    expect(had.has(2500 - AHEAD + 1)).toBe(false);
    expect(had.size).toBeLessThan(300);
  });
  it("loads few frames until the user moves", () => {
    const [before, after] = [loadAll(5000, 100, 1, false).had, loadAll(5000, 100, 1).had];
    for (let step = 100; step < 100 + CHUNK; step++) expect(before.has(step)).toBe(true);
    expect(before.size).toBeLessThan(after.size / 2);
  });
  it("loads all of a short episode around its ends", () => {
    for (const step of [0, 9, 100]) {
      const { had } = loadAll(100, step, step === 100 ? -1 : 1);
      for (let other = 0; other <= 100; other++) expect(had.has(other) || other < step - BEHIND).toBe(true);
    }
    expect(loadAll(0, 0, 1).had).toEqual(new Set([0]));
  });
  it("asks for nothing twice", () => {
    const { requests } = loadAll(900, 450, -1);
    const steps = requests.filter(({ every }) => every === 1).flatMap(stepsOf);
    expect(new Set(steps).size).toBe(steps.length);
  });
  it("has few widths", () => {
    expect(requestWidth(440, 1)).toBe(480);
    expect(requestWidth(440, 2)).toBe(960);
    expect(requestWidth(4000, 2)).toBe(1600);
  });
});

describe("sorted steps", () => {
  it("finds the nearest, as a search over all does", () => {
    const sorted = new SortedSteps();
    const all = [40, 3, 7, 100, 7, 55];
    all.forEach((step) => sorted.add(step));
    sorted.delete(55);
    sorted.delete(56);
    const left = [3, 7, 40, 100];
    for (let step = -3; step < 120; step++) {
      const least = Math.min(...left.map((other) => Math.abs(other - step)));
      expect(Math.abs((sorted.nearest(step) as number) - step)).toBe(least);
      const most = Math.max(...left.filter((other) => other !== 100).map((other) => Math.abs(other - step)));
      expect(Math.abs((sorted.farthest(step, (other) => other === 100) as number) - step)).toBe(most);
    }
    expect(new SortedSteps().nearest(4)).toBeUndefined();
  });
});

describe("the cache of frames", () => {
  it("stays below its limit, drops what is far, and drops everything once", () => {
    const dropped: string[] = [];
    const cache = new FrameCache<string>(100, (frame) => dropped.push(frame), (step) => step % 50 === 0);
    for (let step = 0; step <= 200; step++) cache.set(step, `frame ${step}`, 5, step);
    expect(cache.size).toBeLessThanOrEqual(100);
    expect(cache.count).toBe(20);
    for (const step of [0, 50, 100, 150, 200, 199, 190]) expect(cache.has(step)).toBe(true);
    expect(cache.has(180)).toBe(false);
    expect(cache.nearest(60)).toBe(50);
    cache.clear();
    expect(cache.size).toBe(0);
    expect(new Set(dropped).size).toBe(201);
    expect(dropped.length).toBe(201);
  });
  it("keeps the frame that is shown even if it is larger than the limit", () => {
    const cache = new FrameCache<string>(10);
    cache.set(4, "huge", 50, 4);
    expect(cache.get(4)).toBe("huge");
    cache.set(5, "other", 50, 4);
    expect(cache.get(4)).toBe("huge");
    expect(cache.has(5)).toBe(false);
  });
  it("counts a frame that is stored again once", () => {
    const cache = new FrameCache<string>(100);
    cache.set(1, "a", 30, 1);
    cache.set(1, "b", 40, 1);
    expect([cache.size, cache.count, cache.get(1)]).toEqual([40, 1, "b"]);
  });
});
