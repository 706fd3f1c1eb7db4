/** Whether the server answers. Pages and streams report it; the bar at the top shows it. */
import { signal, type ReadonlySignal } from "@preact/signals";

const reachable = signal(true);
const recovered = new Set<() => void>();
let probing = false;

/** False from the first request or stream that failed until the server answers again. */
export const connected: ReadonlySignal<boolean> = reachable;

/** Calls `run` whenever the server answers again after it did not. Returns a function that ends this. */
export function onRecovery(run: () => void): () => void {
  recovered.add(run);
  return () => recovered.delete(run);
}

export function reportReached(): void {
  if (reachable.value) return;
  reachable.value = true;
  for (const run of [...recovered]) run();
}

export function reportUnreachable(): void {
  reachable.value = false;
  if (!probing) void probe();
}

/** Asks until the server answers, so that a page without a stream recovers too. */
async function probe(): Promise<void> {
  probing = true;
  for (let attempt = 0; !reachable.value; attempt++) {
    await new Promise((resolve) => setTimeout(resolve, backoff(attempt)));
    try {
      const response = await fetch(new URL("api/session", document.baseURI), { cache: "no-store" });
      if (response.ok) reportReached();
    } catch {
      // Still unreachable: the next attempt follows.
    }
  }
  probing = false;
}

/** Returns the milliseconds to wait before an attempt (from 0): 0.25 s, doubling to 5 s. */
export function backoff(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 5000);
}
