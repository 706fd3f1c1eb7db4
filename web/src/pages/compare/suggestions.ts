/** What can be added to a comparison: groups of seeds and runs that match a search. */
import type { RunSummary } from "../../api/types";
import { ranked } from "../../app/ranking";

export interface Suggestion {
  ref: string;
  label: string;
  detail: string;
  kind: "group" | "run";
}

type Run = Pick<RunSummary, "id" | "name" | "preset" | "seed" | "group" | "status" | "tags">;

const LIMIT = 12;

/** Returns the best matches, groups before their runs; what is in the comparison already is left out. */
export function suggestions(search: string, runs: readonly Run[], chosen: ReadonlySet<string>): Suggestion[] {
  const free = runs.filter((run) => !chosen.has(run.id) && run.status !== "unreadable");
  const groups = new Map<string, Run[]>();
  for (const run of free) if (run.group) groups.set(run.group, [...(groups.get(run.group) ?? []), run]);
  const entries: (Suggestion & { text: string })[] = [];
  for (const [group, members] of groups) {
    if (members.length < 2) continue;
    const presets = [...new Set(members.map((run) => run.preset))].join(", ");
    entries.push({ ref: group, label: group, detail: `${members.length} seeds · ${presets}`, kind: "group", text: `${group} ${presets} group` });
  }
  for (const run of free) {
    const detail = [run.preset, run.seed === null ? "" : `seed ${run.seed}`, run.status].filter((part) => part !== "").join(" · ");
    const text = [run.name, run.id, run.preset, run.status, ...run.tags].join(" ");
    entries.push({ ref: run.id, label: run.name || run.id, detail, kind: "run", text });
  }
  const found = ranked(search, entries, (entry) => entry.label, LIMIT, (entry) => entry.text);
  return found.map(({ text: _, ...entry }) => entry);
}
