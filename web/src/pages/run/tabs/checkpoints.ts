/** The checkpoints of a run as rows of a table. */
import type { RunDetails } from "../../../api/types";

export interface CheckpointRow {
  step: number;
  isBest: boolean;
  isLatest: boolean;
  /** The reason why it was written, and when; unknown for those that are neither the best nor the latest. */
  reason: string;
  time: number | null;
  /** The evaluation of this policy during training. */
  evaluation: { mean: number; low: number } | undefined;
  /** What is wrong with its files; empty if nothing is known to be. */
  damage: string;
}

type CheckpointFacts = Pick<RunDetails, "checkpoints" | "evaluations" | "best_step" | "latest_step">;

/** Returns the checkpoints on disk, the newest first. */
export function checkpointRows(details: CheckpointFacts): CheckpointRow[] {
  const { best, latest, steps, damaged } = details.checkpoints;
  return [...steps].reverse().map((step) => {
    const info = [best, latest].find((found) => found?.step === step);
    const evaluation = details.evaluations.find((point) => point.env_steps === step);
    return {
      step,
      isBest: step === details.best_step,
      isLatest: step === (latest?.step ?? details.latest_step),
      reason: info?.reason ?? "",
      time: info?.time ?? null,
      evaluation: evaluation && { mean: evaluation.mean_return, low: evaluation.low },
      damage: damaged.find((message) => message.includes(directoryName(step))) ?? "",
    };
  });
}

/** Returns messages about damage that no row shows. */
export function otherDamage(details: CheckpointFacts): string[] {
  const { steps, damaged } = details.checkpoints;
  return damaged.filter((message) => !steps.some((step) => message.includes(directoryName(step))));
}

/** Returns the name of the directory of a checkpoint: its env steps with twelve digits. */
function directoryName(step: number): string {
  return String(step).padStart(12, "0");
}
