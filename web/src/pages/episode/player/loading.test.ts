import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ApiError, request } from "../../../api/client";
import { Frames, frameSource } from "./frames";

vi.mock("../../../api/client", async (original) => ({ ...(await original<object>()), request: vi.fn() }));

const ADDRESS = { run: "a", kind: "eval", version: 1, number: 0 } as const;
/** Bytes of a decoded picture: 50 of them fill the cache. */
const SIDE = 500;

interface Picture {
  step: number;
  closed: boolean;
}

let asked: number[][] = [];
let pictures: Picture[] = [];

/** Answers with one byte pair per frame, which is its step. */
function answer(path: string): Response {
  const query = new URLSearchParams(path.slice(path.indexOf("?")));
  const [first, last, every] = ["first", "last", "every"].map((name) => Number(query.get(name))) as [number, number, number];
  const steps: number[] = [];
  for (let step = first; step <= last; step += every) steps.push(step);
  asked.push(steps);
  const bytes = new ArrayBuffer(4 + steps.length * 10);
  const view = new DataView(bytes);
  view.setUint32(0, steps.length, true);
  steps.forEach((step, i) => {
    view.setUint32(4 + i * 10, step, true);
    view.setUint32(8 + i * 10, 2, true);
    view.setUint16(12 + i * 10, step, true);
  });
  return new Response(bytes);
}

beforeEach(() => {
  asked = [];
  pictures = [];
  vi.mocked(request).mockImplementation(async (path) => answer(path));
  vi.stubGlobal("createImageBitmap", async (blob: Blob) => {
    const picture = { step: new DataView(await blob.arrayBuffer()).getUint16(0, true), closed: false };
    pictures.push(picture);
    return { ...picture, width: SIDE, height: SIDE, close: () => (picture.closed = true) };
  });
});
afterEach(() => vi.unstubAllGlobals());

const shownStep = (frames: Frames) => frames.shown.value?.step;
const settled = (check: () => void) => vi.waitFor(check, { timeout: 2000, interval: 1 });

describe("frames of an episode", () => {
  it("are shown as soon as they are there, the nearest one before", async () => {
    const frames = new Frames(frameSource(ADDRESS, null), 1000, 480);
    frames.show(0);
    await settled(() => expect(shownStep(frames)).toBe(0));
    await settled(() => expect(asked.flat()).toContain(986)); // the overview
    frames.show(700);
    expect(shownStep(frames)).not.toBe(700);
    await settled(() => expect(shownStep(frames)).toBe(700));
    frames.close();
  });

  it("are asked for once, however often the user comes back", async () => {
    const frames = new Frames(frameSource(ADDRESS, null), 300, 480);
    for (const step of [0, 200, 10, 200, 0, 300, 150]) {
      frames.show(step);
      await settled(() => expect(shownStep(frames)).toBe(step));
    }
    const near = asked.filter((steps) => steps.length < 2 || steps[1]! - steps[0]! === 1).flat();
    expect(new Set(near).size).toBe(near.length);
    frames.close();
  });

  it("are decoded within a bound, and freed at the end", async () => {
    const frames = new Frames(frameSource(ADDRESS, null), 400, 480);
    for (let step = 0; step <= 400; step += 5) {
      frames.show(step);
      await settled(() => expect(shownStep(frames)).toBe(step));
    }
    expect(pictures.length).toBeGreaterThan(60);
    expect(pictures.filter(({ closed }) => !closed).length).toBeLessThanOrEqual(48);
    frames.close();
    await settled(() => expect(pictures.every(({ closed }) => closed)).toBe(true));
  });

  it("are given up after some errors, until the user asks again", async () => {
    vi.mocked(request).mockRejectedValue(new ApiError("failed", "The environment cannot be rendered."));
    const frames = new Frames(frameSource(ADDRESS, null), 100, 480);
    const before = vi.mocked(request).mock.calls.length;
    frames.show(0);
    await settled(() => expect(vi.mocked(request).mock.calls.length).toBe(before + 3));
    frames.show(1);
    expect(frames.error.value?.message).toBe("The environment cannot be rendered.");
    expect(vi.mocked(request).mock.calls.length).toBe(before + 3);
    vi.mocked(request).mockImplementation(async (path) => answer(path));
    frames.retry();
    await settled(() => expect(shownStep(frames)).toBe(1));
    expect(frames.error.value).toBeUndefined();
    frames.close();
  });
});
