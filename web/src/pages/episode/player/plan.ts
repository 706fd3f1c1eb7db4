/** Which frames are asked for next. Pure functions. */

export interface FrameRequest {
  first: number;
  /** Included. */
  last: number;
  every: number;
}

export interface Surroundings {
  /** The step that is shown. */
  step: number;
  /** 1 if the user moves forward, -1 if backward. */
  direction: 1 | -1;
  /** Whether the user has moved: until then, few frames are loaded, since other questions wait meanwhile. */
  isMoving: boolean;
  /** The last step that has a frame: that after the last action. */
  last: number;
  /** Whether the frame of a step is there, or was asked for. */
  has: (step: number) => boolean;
}

/** Frames in one answer. */
export const CHUNK = 24;
/** Frames in the answer that the user waits for. */
export const FIRST_CHUNK = 6;
/** Frames that are loaded ahead in the direction of movement, and behind. */
export const AHEAD = 120;
export const BEHIND = 24;
/** Frames over the whole episode that show roughly where one is while scrubbing. */
const OVERVIEW = 60;

/** Returns the next request: the frame that is shown and those after it, then an overview of the whole episode, then
 * frames ahead and behind; null if all of these are there. */
export function nextRequest(around: Surroundings): FrameRequest | null {
  const { direction, isMoving } = around;
  return (
    runFrom(around, direction, 1, FIRST_CHUNK) ??
    overview(around) ??
    runFrom(around, direction, isMoving ? AHEAD : CHUNK, CHUNK) ??
    (isMoving ? runFrom(around, direction === 1 ? -1 : 1, BEHIND, CHUNK) : null)
  );
}

/** Returns the first run of missing frames within `reach` steps in a direction, at most `size` of them. */
function runFrom({ step, last, has }: Surroundings, direction: 1 | -1, reach: number, size: number): FrameRequest | null {
  let from = step;
  for (let seen = 0; seen < reach && isStep(from, last) && has(from); seen++) from += direction;
  if (Math.abs(from - step) >= reach || !isStep(from, last)) return null;
  let to = from;
  while (Math.abs(to + direction - from) < size && isStep(to + direction, last) && !has(to + direction)) to += direction;
  return { first: Math.min(from, to), last: Math.max(from, to), every: 1 };
}

/** Returns the frames of the overview that are missing, or null. Those of short episodes are loaded anyway. */
function overview({ last, has }: Surroundings): FrameRequest | null {
  const every = overviewStride(last);
  if (every < 4) return null;
  let first = 0;
  while (first <= last && has(first)) first += every;
  if (first > last) return null;
  const end = Math.min(last, first + every * (CHUNK - 1));
  return { first, last: end - ((end - first) % every), every };
}

/** Returns the distance of the frames in the overview. */
export function overviewStride(last: number): number {
  return Math.max(1, Math.ceil((last + 1) / OVERVIEW));
}

/** Returns the steps of a request. */
export function stepsOf({ first, last, every }: FrameRequest): number[] {
  const steps: number[] = [];
  for (let step = first; step <= last; step += every) steps.push(step);
  return steps;
}

function isStep(step: number, last: number): boolean {
  return step >= 0 && step <= last;
}

/** Returns the width in pixels that is asked for, so that a few sizes serve all windows. */
export function requestWidth(cssWidth: number, ratio: number): number {
  const wanted = cssWidth * ratio;
  return [160, 320, 480, 640, 960, 1280].find((width) => width >= wanted) ?? 1600;
}
