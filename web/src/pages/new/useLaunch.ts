/** Dry run and start of the draft. */

import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, asApiError, send } from "../../api/client";
import { useRuns } from "../../api/runs";
import type { JobStatus, StartedRuns, TrainingPlan } from "../../api/types";
import { navigate, runPath } from "../../app/router";
import { startArguments, type Draft } from "./draft";
import { refreshJobs } from "./useJobs";

export interface Launch {
  plan: ReadonlySignal<TrainingPlan | null>;
  error: ReadonlySignal<ApiError | null>;
  message: ReadonlySignal<string>;
  isPlanning: ReadonlySignal<boolean>;
  isStarting: ReadonlySignal<boolean>;
  dryRun: () => void;
  closePlan: () => void;
  start: () => void;
}

/** `jobs`: all background jobs, which tell whether a job failed before its run existed. */
export function useLaunch(draft: ReadonlySignal<Draft>, jobs: readonly JobStatus[]): Launch {
  const plan = useSignal<TrainingPlan | null>(null);
  const error = useSignal<ApiError | null>(null);
  const message = useSignal("");
  const isPlanning = useSignal(false);
  const isStarting = useSignal(false);
  /** The single run that was started and is not listed yet. */
  const awaited = useSignal<string | null>(null);
  const { runs } = useRuns();

  const call = async (busy: { value: boolean }, work: () => Promise<void>) => {
    if (busy.value) return;
    busy.value = true;
    error.value = null;
    message.value = "";
    try {
      await work();
    } catch (problem) {
      error.value = asApiError(problem);
    }
    busy.value = false;
  };
  const dryRun = () =>
    void call(isPlanning, async () => {
      const { tags: _, ...args } = startArguments(draft.peek());
      plan.value = null;
      plan.value = await send("dry_run", args);
    });
  const start = () =>
    void call(isStarting, async () => {
      const started = await send("start", startArguments(draft.peek()));
      refreshJobs();
      const [first] = started.runs;
      if (started.group !== null) navigate(`/?${new URLSearchParams({ filter: `group=${started.group}` }).toString()}`);
      else if (first?.status === "started") awaited.value = first.id;
      message.value = startedText(started);
    });

  // A new process needs a moment until its run exists; its page would be empty before.
  useEffect(() => {
    const id = awaited.peek();
    if (id && runs.value?.some((run) => run.id === id)) navigate(runPath(id));
  }, [runs.value, awaited.value]);
  useEffect(() => {
    const job = jobs.find((one) => one.id === awaited.peek());
    if (job?.status !== "failed") return;
    awaited.value = null;
    message.value = "";
    error.value = new ApiError("failed", job.reason || "The run failed before it started.", job.id, `gymnast logs ${job.id}`);
  }, [jobs]);
  return { plan, error, message, isPlanning, isStarting, dryRun, closePlan: () => (plan.value = null), start };
}

function startedText({ runs }: StartedRuns): string {
  const [first] = runs;
  if (runs.length !== 1 || !first) return "";
  const name = first.name || first.id;
  return first.status === "queued" ? `Queued: ${name} starts when a running job ends.` : `Starting ${name}; its page opens in a moment.`;
}
