/** Calls a function in every animation frame while something runs. */
import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

/** Calls `onFrame` with the seconds since the last frame. The browser pauses it while the page is hidden. */
export function useLoop(isRunning: ReadonlySignal<boolean>, onFrame: (seconds: number) => void): void {
  const latest = useRef(onFrame);
  latest.current = onFrame;
  const runs = isRunning.value;
  useEffect(() => {
    if (!runs) return undefined;
    let [request, before] = [0, performance.now()];
    const frame = (now: number) => {
      latest.current(Math.max(0, now - before) / 1000);
      before = now;
      request = requestAnimationFrame(frame);
    };
    request = requestAnimationFrame(frame);
    return () => cancelAnimationFrame(request);
  }, [runs]);
}

const reduced = window.matchMedia("(prefers-reduced-motion: reduce)");

/** Milliseconds between two drawings: every frame, or twice a second for those who asked for little motion. */
export function drawingPause(): number {
  return reduced.matches ? 500 : 0;
}
