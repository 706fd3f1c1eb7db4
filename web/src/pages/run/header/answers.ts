/** The answers of runs to commands, as sentences. */
import type { CommandAnswer } from "../../../api/types";
import { formatCount, formatInterval } from "../../../ui/numbers";
import { plainValue } from "../parts/text";

const DONE: Readonly<Record<CommandAnswer["command"], string>> = {
  pause: "paused",
  unpause: "continues to train",
  checkpoint: "saved a checkpoint",
  stop: "saved a checkpoint and stopped",
  evaluate: "evaluated its policy",
  set: "changed",
};

/** Returns what a run answered: `k0hx: changed algo.lr from 0.001 to 0.0003 at 12,288 env steps.` */
export function answerText(answer: CommandAnswer): string {
  const { id, command, answered, changes, score } = answer;
  if (answer.dequeued) return `${id} was removed from the queue.`;
  if (!answered) return `${id} has not answered yet; the command takes effect at its next rollout boundary.`;
  const at = answer.env_steps === null ? "" : ` at ${formatCount(answer.env_steps)} env steps`;
  if (command === "set") {
    const words = changes.map((change) => `${change.key} from ${plainValue(change.before)} to ${plainValue(change.after)}`);
    return words.length ? `${id} changed ${words.join(", ")}${at}.` : `${id} already had these values.`;
  }
  const result = score ? `: ${formatInterval(score.mean, score.low, score.high)}` : "";
  return `${id} ${DONE[command]}${at}${result}.`;
}
