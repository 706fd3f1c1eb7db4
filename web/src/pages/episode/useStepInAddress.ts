/** Keeps the current step in the address, so that a link leads to it. */
import { useSignalEffect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { route, setParams } from "../../app/router";
import type { EpisodeStore } from "./store";

/** Milliseconds without a move after which the address is changed: browsers limit how often it may. */
const PAUSE = 300;

/** Returns the step that an address names; 0 if it names none. */
export function stepOf(params: URLSearchParams): number {
  const step = Number(params.get("step") ?? 0);
  return Number.isFinite(step) ? Math.max(0, Math.floor(step)) : 0;
}

export function useStepInAddress(store: EpisodeStore): void {
  useSignalEffect(() => {
    const step = store.step.value;
    if (!store.inspection.value || store.playing.value) return undefined;
    const timer = setTimeout(() => {
      if (stepOf(route.peek().params) !== step) setParams({ step: step ? String(step) : null });
    }, PAUSE);
    return () => clearTimeout(timer);
  });
  // The back button, or a link to another step of the same episode.
  const step = stepOf(route.value.params);
  useEffect(() => {
    if (step !== store.step.peek()) store.seek(step);
  }, [step]);
}
