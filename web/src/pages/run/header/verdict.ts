/** Whether a run reached its threshold, in words. */
import type { RunSummary } from "../../../api/types";

export type Verdict = "" | "solved" | "not solved" | "not confirmed" | "doubtful";

/** Returns whether a run is solved; without a threshold, whether its score is doubtful, else empty. A run that was
 * stopped early was not scored on held-out seeds, so that even a score above the threshold is not confirmed. A
 * confirmed score above the threshold that does not count as solved is doubtful. */
export function verdictOf(run: Pick<RunSummary, "solved" | "score" | "threshold" | "confirmed" | "doubts">): Verdict {
  if (run.solved === null) return run.doubts.length > 0 ? "doubtful" : "";
  if (run.solved) return "solved";
  const isEnough = run.score !== null && run.threshold !== null && run.score.low >= run.threshold;
  if (!isEnough) return "not solved";
  return run.confirmed ? "doubtful" : "not confirmed";
}
