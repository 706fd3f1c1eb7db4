/** Draws charts in animation frames, for a few milliseconds each, so that the page stays responsive while
 * many charts appear or change at once. */

const BUDGET = 8;
const waiting = new Map<object, () => void>();
let isRequested = false;

/** Runs `draw` in one of the next frames. A later request of the same owner replaces it. */
export function schedule(owner: object, draw: () => void): void {
  waiting.set(owner, draw);
  request();
}

/** Forgets the request of an owner. */
export function unschedule(owner: object): void {
  waiting.delete(owner);
}

function request(): void {
  if (isRequested) return;
  isRequested = true;
  requestAnimationFrame(run);
}

function run(): void {
  isRequested = false;
  const end = performance.now() + BUDGET;
  for (const [owner, draw] of waiting) {
    waiting.delete(owner);
    draw();
    if (performance.now() > end) break;
  }
  if (waiting.size) request();
}
