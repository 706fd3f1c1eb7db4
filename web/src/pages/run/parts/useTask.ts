/** A task of the server (evaluation, film) that a component starts, with its progress and outcome. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { asApiError, runTask, type ApiError } from "../../../api/client";
import type { Arguments, Results, TaskOperation } from "../../../api/types";

export interface TaskState<T> {
  running: boolean;
  /** Share that is done; null while it is unknown. */
  share: number | null;
  /** What it does, for the user. */
  title: string;
  result: T | undefined;
  error: ApiError | undefined;
}

export interface TaskRunner<K extends TaskOperation> {
  state: ReadonlySignal<TaskState<Results[K]>>;
  start(args: Arguments[K], title: string): Promise<Results[K] | undefined>;
  cancel(): void;
}

/** Returns a runner for one task at a time. The task continues if the component disappears. */
export function useTask<K extends TaskOperation>(operation: K): TaskRunner<K> {
  const idle: TaskState<Results[K]> = { running: false, share: null, title: "", result: undefined, error: undefined };
  const state = useSignal(idle);
  const abort = useRef<AbortController | undefined>(undefined);
  return {
    state,
    async start(args, title) {
      if (state.peek().running) return undefined;
      abort.current = new AbortController();
      state.value = { ...idle, running: true, title };
      try {
        const result = await runTask(operation, args, {
          signal: abort.current.signal,
          onProgress: (share) => (state.value = { ...state.peek(), share }),
        });
        state.value = { ...idle, title, result };
        return result;
      } catch (error) {
        state.value = { ...idle, title, error: asApiError(error) };
        return undefined;
      }
    },
    cancel: () => abort.current?.abort(),
  };
}
