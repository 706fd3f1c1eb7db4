/** What can be done with a run in its status, and why not. */

export type ActionId = "pause" | "unpause" | "stop" | "checkpoint" | "evaluate" | "set" | "resume" | "again";

export interface Action {
  id: ActionId;
  label: string;
  /** What it does, in a sentence. */
  about: string;
  /** The reason why it cannot be done now; empty if it can. */
  disabled: string;
}

const ABOUT: Readonly<Record<ActionId, [label: string, about: string]>> = {
  pause: ["Pause", "Waits at the next rollout boundary; the process stays in memory."],
  unpause: ["Unpause", "Continues to train."],
  stop: ["Stop", "Saves a checkpoint and ends; resume continues exactly there."],
  checkpoint: ["Checkpoint", "Saves a checkpoint at the next rollout boundary."],
  evaluate: ["Evaluate", "Evaluates the current policy; training waits for the result."],
  set: ["Change a setting", "Changes hyperparameters from the next rollout on."],
  resume: ["Resume", "Continues from a checkpoint; from an earlier one than the newest, a new run branches off."],
  again: ["Train again", "Opens the form of a new run with the settings of this one."],
};

const ACTIVE = ["running", "paused", "stalled"];
const WAITING = ["queued", "starting"];

/** Returns whether a process trains the run, or is about to. */
export function isLive(status: string): boolean {
  return ACTIVE.includes(status) || WAITING.includes(status);
}

export interface ActionContext {
  status: string;
  /** The reason why the run ended, if it has. */
  reason: string;
  readOnly: boolean;
  /** The steps of its checkpoints. */
  checkpoints: readonly number[];
}

/** Returns the buttons of a run, in their order. A paused run has `unpause` instead of `pause`. */
export function availableActions(context: ActionContext): Action[] {
  const ids: ActionId[] = [
    context.status === "paused" ? "unpause" : "pause",
    "stop", "checkpoint", "evaluate", "set", "resume", "again",
  ];
  return ids.map((id) => {
    const [label, about] = ABOUT[id];
    return { id, label, about, disabled: reasonAgainst(id, context) };
  });
}

function reasonAgainst(id: ActionId, { status, reason, readOnly, checkpoints }: ActionContext): string {
  if (readOnly) return "The studio is read-only; start it without --read-only.";
  if (status === "unreadable") return "The run cannot be read.";
  if (id === "again") return "";
  if (id === "resume") {
    if (WAITING.includes(status)) return `The run is ${status}; it will train by itself.`;
    if (ACTIVE.includes(status) && checkpoints.length < 2) return "The run is training; stop it first.";
    return "";
  }
  if (ACTIVE.includes(status)) return "";
  if (WAITING.includes(status)) return id === "stop" ? "" : `The run is ${status} and does not train yet.`;
  return `The run is ${status}${reason ? ` (${reason})` : ""}: no process is training it.`;
}

/** Returns the checkpoints from which a run can be resumed: while it trains, only a branch from an earlier one. */
export function resumableSteps(status: string, steps: readonly number[]): number[] {
  return ACTIVE.includes(status) ? steps.slice(0, -1) : [...steps];
}
