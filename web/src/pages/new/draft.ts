/** A request to train, as it is being written, and what it becomes: arguments, a command, an address. */

import { commandText, quoted } from "../../api/command";
import type { Arguments } from "../../api/types";

export interface Draft {
  /** `ENV[:variant]`. */
  target: string;
  /** The algorithm to use instead of the one of the variant; empty for that one. */
  algo: string;
  /** Dotted key -> text as in `--set KEY=TEXT`, in the order in which they were changed. */
  changes: ReadonlyMap<string, string>;
  seed: string;
  /** Number of seeds of a group; empty for a single run. */
  seeds: string;
  name: string;
  /** Separated by spaces or commas. */
  tags: string;
  /** A run or RUN:CHECKPOINT whose weights it starts from; empty for none. */
  source: string;
}

/** Settings that are arguments of their own, and so no part of the form: seed, target and algorithm. */
export const ARGUMENTS: ReadonlySet<string> = new Set(["seed", "env.id", "algo.name"]);

export const EMPTY_DRAFT: Draft = {
  target: "",
  algo: "",
  changes: new Map(),
  seed: "",
  seeds: "",
  name: "",
  tags: "",
  source: "",
};

/** Returns the draft with a setting changed; null restores its value. */
export function withChange(draft: Draft, key: string, text: string | null): Draft {
  const changes = new Map(draft.changes);
  if (text === null) changes.delete(key);
  else changes.set(key, text);
  return { ...draft, changes };
}

/** Returns the changes as KEY=VALUE texts. */
export function assignments(draft: Draft): string[] {
  return [...draft.changes].map(([key, text]) => `${key}=${text}`);
}

export function tagList(draft: Draft): string[] {
  return [...new Set(draft.tags.split(/[\s,]+/).filter((tag) => tag !== ""))];
}

export interface DraftProblem {
  field: "target" | "seed" | "seeds";
  message: string;
}

/** Returns the problems that can be seen without the server, which validates everything else. */
export function draftProblems(draft: Draft): DraftProblem[] {
  const problems: DraftProblem[] = [];
  if (!draft.target.trim()) problems.push({ field: "target", message: "Choose what to train." });
  if (draft.seed.trim() && !/^\d+$/.test(draft.seed.trim()))
    problems.push({ field: "seed", message: "The seed is a whole number, 0 or more." });
  if (draft.seeds.trim() && !/^[1-9]\d*$/.test(draft.seeds.trim()))
    problems.push({ field: "seeds", message: "The number of seeds is a whole number, 1 or more." });
  return problems;
}

/** Returns the arguments of `start`; those of `dry_run` are the same without tags. */
export function startArguments(draft: Draft): Arguments["start"] {
  const tags = tagList(draft);
  return {
    target: draft.target.trim(),
    ...(draft.changes.size ? { overrides: assignments(draft) } : {}),
    ...(draft.algo ? { algo: draft.algo } : {}),
    ...(draft.seed.trim() ? { seed: Number(draft.seed) } : {}),
    ...(draft.seeds.trim() ? { seeds: Number(draft.seeds) } : {}),
    ...(draft.source.trim() ? { source: draft.source.trim() } : {}),
    ...(draft.name.trim() ? { name: draft.name.trim() } : {}),
    ...(tags.length ? { tags } : {}),
  };
}

/** Returns the equivalent command. */
export function trainCommand(draft: Draft): string {
  return commandText({
    command: `train ${quoted(draft.target.trim() || "ENV:VARIANT")}`,
    options: {
      algo: draft.algo,
      set: assignments(draft),
      seed: draft.seed.trim(),
      seeds: draft.seeds.trim(),
      from: draft.source.trim(),
      name: draft.name.trim(),
      tag: tagList(draft),
      detach: true,
    },
  });
}

const KEYS = ["target", "algo", "seed", "seeds", "name", "tags", "source"] as const;

/** Returns the path and query of the page with this draft. */
export function draftPath(draft: Draft): string {
  const params = new URLSearchParams();
  for (const key of KEYS) if (draft[key]) params.set(key, draft[key]);
  for (const text of assignments(draft)) params.append("set", text);
  const query = params.toString();
  return query ? `/new?${query}` : "/new";
}

/** Returns the draft that an address describes. */
export function parseDraft(params: URLSearchParams): Draft {
  const texts = Object.fromEntries(KEYS.map((key) => [key, params.get(key) ?? ""]));
  const changes = params.getAll("set").flatMap((text): [string, string][] => {
    const equals = text.indexOf("=");
    return equals > 0 ? [[text.slice(0, equals), text.slice(equals + 1)]] : [];
  });
  return { ...EMPTY_DRAFT, ...texts, changes: new Map(changes) };
}
