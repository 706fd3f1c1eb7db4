/** A request that a button sends: whether it is under way, and why it failed. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { asApiError, type ApiError } from "../api/client";

export interface Action {
  busy: ReadonlySignal<boolean>;
  error: ReadonlySignal<ApiError | undefined>;
  /** Does the work unless the action is busy; an error is kept until the next time. */
  run(work: () => Promise<void>): Promise<void>;
  /** Forgets the error. */
  clear(): void;
}

export function useAction(): Action {
  const busy = useSignal(false);
  const error = useSignal<ApiError | undefined>(undefined);
  return {
    busy,
    error,
    async run(work) {
      if (busy.peek()) return;
      busy.value = true;
      error.value = undefined;
      try {
        await work();
      } catch (problem) {
        error.value = asApiError(problem);
      } finally {
        busy.value = false;
      }
    },
    clear: () => (error.value = undefined),
  };
}
