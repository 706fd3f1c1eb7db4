/** The request that would train a run again, from the differences of its config to its preset. */

import type { FormSection, RunDetails } from "../../api/types";
import { ARGUMENTS, EMPTY_DRAFT, type Draft } from "./draft";
import { sameValue, valueText } from "./valueText";

/** Origin of values that follow from the environment's spaces: they follow again. */
const SPACE_DEFAULT = "default for its spaces";

type TrainedRun = Pick<RunDetails, "preset" | "seed" | "config" | "provenance" | "tags">;

/** Returns the algorithm that replaced the one of the variant; empty if none did. */
export function chosenAlgorithm(run: TrainedRun): string {
  return run.provenance["algo.name"] === "--algo" ? String(settingAt(run.config, "algo.name") ?? "") : "";
}

/**
 * Returns the request that trains the run again. `preset`: the form of its preset without overrides, with the
 * algorithm of `chosenAlgorithm`. The name is not repeated, since names of runs are unique.
 */
export function draftOfRun(run: TrainedRun, preset: readonly FormSection[]): Draft {
  const changes = new Map<string, string>();
  for (const field of preset.flatMap((section) => section.fields)) {
    const value = settingAt(run.config, field.key);
    if (value === undefined || ARGUMENTS.has(field.key)) continue;
    if (run.provenance[field.key] === SPACE_DEFAULT || sameValue(value, field.value)) continue;
    if (hasAbove(changes, field.key)) continue; // an entry of a mapping that is set as a whole
    changes.set(field.key, valueText(value));
  }
  return {
    ...EMPTY_DRAFT,
    target: run.preset,
    algo: chosenAlgorithm(run),
    changes,
    seed: run.seed === null ? "" : String(run.seed),
    tags: run.tags.join(" "),
  };
}

function hasAbove(changes: ReadonlyMap<string, string>, key: string): boolean {
  return [...changes.keys()].some((other) => key.startsWith(`${other}.`));
}

/** Returns the setting with a dotted key; undefined if there is none. */
export function settingAt(config: Record<string, unknown>, key: string): unknown {
  let at: unknown = config;
  for (const part of key.split(".")) {
    if (at === null || typeof at !== "object" || Array.isArray(at)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}
