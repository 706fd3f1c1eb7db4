/** Whether a run reached its threshold, in words. */
import type { RunSummary } from "../../../api/types";

export type Verdict = "" | "solved" | "not solved" | "not confirmed";

/** Returns whether a run is solved; empty if it has no threshold. A run that was stopped early was not scored on
 * held-out seeds, so that even a score above the threshold is not confirmed. */
export function verdictOf(run: Pick<RunSummary, "solved" | "score" | "threshold" | "confirmed">): Verdict {
  if (run.solved === null) return "";
  if (run.solved) return "solved";
  const isEnough = run.score !== null && run.threshold !== null && run.score.low >= run.threshold;
  return isEnough && !run.confirmed ? "not confirmed" : "not solved";
}
