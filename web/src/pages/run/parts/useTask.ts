/** A task of the server (evaluation, film) that a component starts, with its progress and outcome. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { asApiError, runTask, type ApiError } from "../../../api/client";
import type { Arguments, Results, TaskOperation } from "../../../api/types";

export interface TaskState<T> {
  running: boolean;
  /** Share that is done; null while it is unknown. */
  share: number | null;
  /** Amount of work that is done: steps, episodes, matches. */
  done: number;
  /** Time since its start. */
  seconds: number;
  /** What it does, for the user. */
  title: string;
  result: T | undefined;
  error: ApiError | undefined;
}

export interface TaskRunner<K extends TaskOperation> {
  state: ReadonlySignal<TaskState<Results[K]>>;
  /** Returns the result; undefined if it failed or was cancelled. */
  start(args: Arguments[K], title: string): Promise<Results[K] | undefined>;
  cancel(): void;
}

/** Returns a runner for one task at a time. The task continues if the component disappears. */
export function useTask<K extends TaskOperation>(operation: K): TaskRunner<K> {
  const idle: TaskState<Results[K]> = {
    running: false,
    share: null,
    done: 0,
    seconds: 0,
    title: "",
    result: undefined,
    error: undefined,
  };
  const state = useSignal(idle);
  const abort = useRef<AbortController | undefined>(undefined);
  return {
    state,
    async start(args, title) {
      if (state.peek().running) return undefined;
      const { signal } = (abort.current = new AbortController());
      const began = performance.now();
      state.value = { ...idle, running: true, title };
      try {
        const result = await runTask(operation, args, {
          signal,
          onProgress: (share, done) =>
            (state.value = { ...state.peek(), share, done, seconds: (performance.now() - began) / 1000 }),
        });
        state.value = { ...idle, title, result };
        return signal.aborted ? undefined : result;
      } catch (error) {
        state.value = signal.aborted ? idle : { ...idle, title, error: asApiError(error) };
        return undefined;
      }
    },
    cancel: () => abort.current?.abort(),
  };
}
