/** Words and addresses of studies. Pure functions. */
import type { SweepSummary, TrialRecord } from "../../api/types";

/** Milliseconds between two looks at a study that runs. */
export const REFRESH = 3_000;

export function studyPath(name: string): string {
  return `/sweeps/${encodeURIComponent(name)}`;
}

export function isActive(study: Pick<SweepSummary, "status">): boolean {
  return study.status === "running";
}

/** Returns whether a study may change: a process may resume one that was interrupted, or has just been started. */
export function mayChange(study: Pick<SweepSummary, "status">): boolean {
  return study.status !== "finished";
}

/** Returns how many of the planned trials there are. */
export function progressText(study: Pick<SweepSummary, "trials" | "planned_trials">): string {
  return study.trials >= study.planned_trials ? String(study.trials) : `${study.trials} of ${study.planned_trials}`;
}

/** Returns a text that changes whenever the plots of a study may have changed. */
export function progressOf(study: Pick<SweepSummary, "status" | "trials" | "units" | "running_units" | "confirmed" | "seconds">): string {
  const { status, trials, units, running_units, confirmed } = study;
  return [status, trials, units, running_units, confirmed].join(" ");
}

/** Returns the values of a trial as text: `algo.lr=0.001 algo.epochs=8`. */
export function settingsText(trial: Pick<TrialRecord, "overrides" | "is_baseline">): string {
  if (trial.is_baseline) return "no change";
  return Object.entries(trial.overrides)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

/** Returns the trials in the order of their ranks, those without a value last. */
export function ranked<T extends Pick<TrialRecord, "rank" | "value">>(trials: readonly T[]): T[] {
  return [...trials].sort((a, b) => Number(a.value === null) - Number(b.value === null) || a.rank - b.rank);
}
