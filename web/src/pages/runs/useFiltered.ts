/** The runs that match the filter, as the server decides. */

import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { asApiError, read, type ApiError } from "../../api/client";
import { Latest } from "../../api/latest";
import type { RunSummary } from "../../api/types";
import { filterMayChange } from "./liveRuns";

const PAUSE = 150;

export interface Filtered {
  /** Newest first; undefined before the first answer. The runs of the last valid filter if this one is wrong. */
  runs: RunSummary[] | undefined;
  /** Why the filter is wrong. */
  error: ApiError | undefined;
}

/** Asks the server again when the filter changes, or a run changes in a way that may concern it. */
export function useFiltered(filter: string, runs: RunSummary[] | undefined): Filtered {
  const ids = useSignal<ReadonlySet<string> | null>(null);
  const error = useSignal<ApiError | undefined>(undefined);
  const asked = useRef<{ filter: string; runs: RunSummary[] } | null>(null);
  const wasShown = useRef(false);
  const latest = useMemo(
    () =>
      new Latest<string, Set<string>>({
        ask: async (words, signal) => {
          const page = await read("runs", { filter: words }, { signal });
          return new Set(page.runs.map((run) => run.id));
        },
        onAnswer: (found) => {
          ids.value = found;
          error.value = undefined;
        },
        onError: (problem) => {
          error.value = asApiError(problem);
        },
        pause: PAUSE,
      }),
    [],
  );
  useEffect(() => () => latest.cancel(), []);
  useEffect(() => {
    const words = filter.trim();
    if (!words) {
      latest.cancel();
      asked.current = null;
      ids.value = null;
      error.value = undefined;
    } else if (runs) {
      const before = asked.current;
      if (before?.filter === words && !filterMayChange(words, before.runs, runs)) return;
      asked.current = { filter: words, runs };
      latest.ask(words, before?.filter !== words);
    }
  }, [filter, runs]);

  const found = ids.value;
  const shown = useMemo(() => (found ? runs?.filter((run) => found.has(run.id)) : runs), [found, runs]);
  if (filter.trim() && !found && !wasShown.current && !error.value) return { runs: undefined, error: undefined };
  if (shown) wasShown.current = true;
  return { runs: shown, error: error.value };
}
