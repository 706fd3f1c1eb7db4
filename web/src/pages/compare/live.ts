/** Reads data of runs in training again, not more often than it is worth. */
import { useEffect, useRef } from "preact/hooks";
import type { RunSummary } from "../../api/types";

/** Returns a text that changes when one of the runs has new rows or another status. */
export function progressStamp(runs: readonly Pick<RunSummary, "id" | "status" | "clocks">[]): string {
  return runs.map((run) => `${run.id} ${run.status} ${run.clocks["env_steps"] ?? 0}`).join("\n");
}

/** Calls `refresh` when `stamp` changes from one that is not empty, at most once in `pause` milliseconds; the last change is never lost. */
export function useRefresh(stamp: string, refresh: () => void, pause: number): void {
  const latest = useRef(refresh);
  latest.current = refresh;
  const before = useRef(stamp);
  const due = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  useEffect(() => {
    const isNew = before.current !== "" && before.current !== stamp;
    before.current = stamp;
    if (!isNew) return;
    if (timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      due.current = performance.now() + pause;
      latest.current();
    }, Math.max(0, due.current - performance.now()));
  }, [stamp]);
  useEffect(() => () => void (timer.current !== null && clearTimeout(timer.current)), []);
}
