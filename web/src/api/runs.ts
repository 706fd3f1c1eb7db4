/** The list of runs, live, shared by all components that show it. */
import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ApiError } from "./client";
import { watchRuns } from "./stream";
import type { RunsMessage, RunSummary } from "./types";

const list = signal<RunSummary[] | undefined>(undefined);
const problem = signal<ApiError | undefined>(undefined);
let users = 0;
let close: (() => void) | null = null;

export interface RunList {
  /** All runs, newest first; undefined before the first message. */
  runs: ReadonlySignal<RunSummary[] | undefined>;
  error: ReadonlySignal<ApiError | undefined>;
}

/** Returns all runs, updated while they train. Components share one stream. */
export function useRuns(): RunList {
  useEffect(() => {
    if (users++ === 0) {
      problem.value = undefined;
      close = watchRuns(
        (message) => (list.value = appliedTo(list.peek() ?? [], message)),
        (error) => (problem.value = error),
      );
    }
    return () => {
      if (--users === 0) close?.();
    };
  }, []);
  return { runs: list, error: problem };
}

/** Returns the runs after a message, newest first. Runs that did not change stay the same objects. */
export function appliedTo(runs: readonly RunSummary[], message: RunsMessage): RunSummary[] {
  const changed = new Map(message.changed.map((run) => [run.id, run]));
  const removed = new Set(message.removed);
  const kept = runs.filter((run) => !changed.has(run.id) && !removed.has(run.id) && !message.complete);
  return [...kept, ...changed.values()].sort(
    (a, b) => b.created - a.created || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0),
  );
}
