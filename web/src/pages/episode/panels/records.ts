/** Names of what the panels ask the server. */
import type { Arguments } from "../../../api/types";
import { agentArguments } from "../address";
import type { EpisodeStore } from "../store";

type StepArguments = Pick<Arguments["attribution"], "ref" | "kind" | "version" | "number" | "step">;

/** Returns the arguments that name a step of the episode as it was played. */
export function stepArguments(store: EpisodeStore, step: number): StepArguments {
  return { ...agentArguments(store.address), step } as StepArguments;
}

/** Returns why nothing can be asked about a step; empty if it can. */
export function notAskable(store: EpisodeStore, step: number): string {
  const inspection = store.inspection.value;
  if (!inspection) return "The episode is being loaded.";
  if (inspection.policy_note) return `The policy cannot be asked: ${inspection.policy_note}.`;
  if (store.variation.value && step >= store.variation.value.step) return "Go back to the episode: this is a variation of it.";
  return step >= inspection.info.length ? "The episode has ended: there is no decision after its last step." : "";
}

/** Returns why no other action can be tried at a step; empty if it can. */
export function notBranchable(store: EpisodeStore, step: number): string {
  const inspection = store.inspection.value;
  if (inspection && inspection.roles.length > 0) return "Other actions are not tried in matches: the other players would answer differently.";
  const reason = notAskable(store, step);
  return reason || (inspection?.replay.exact === false ? "The episode cannot be replayed exactly." : "");
}
