/** The sides of a comparison: single runs, groups of seeds, and ad-hoc groups, made from the references in the URL. */
import type { RunSummary } from "../../api/types";
import type { Grouping } from "./view";

export type ListedRun = Pick<RunSummary, "id" | "name" | "preset" | "seed" | "group" | "status">;

export interface Side {
  /** The reference that the API is asked with, which is also the name in its answers. */
  ref: string;
  /** The name on the page. */
  label: string;
  /** Ids of the runs, by seed. */
  runs: string[];
  /** `group`: all seeds of a group; `set`: an ad-hoc group, or a part of a group. */
  kind: "run" | "group" | "set";
}

export interface Selection {
  sides: Side[];
  /** References that name no run and no group, or more than one run. */
  unknown: string[];
}

/** Returns the sides that the references mean. Every run is in one side only, the first that names it. Runs that
 * would all be in one side are compared with each other, if each of them is named. */
export function selectSides(refs: readonly string[], runs: readonly ListedRun[], grouping: Grouping): Selection {
  const found = refs.map((ref) => resolve(ref, runs));
  const unknown = refs.filter((_, index) => found[index]!.length === 0);
  const used = new Set<string>();
  const chosen: { runs: ListedRun[]; adHoc: boolean }[] = [];
  for (const [index, members] of found.entries()) {
    const left = members.filter((run) => !used.has(run.id));
    for (const run of left) used.add(run.id);
    // An ad-hoc group was put together by hand, so grouping leaves it as it is.
    const adHoc = left.length > 1 && isJoined(refs[index]!, runs);
    if (adHoc) chosen.push({ runs: left, adHoc });
    else for (const run of left) chosen.push({ runs: [run], adHoc: false });
  }
  const parts = new Map<string, ListedRun[]>();
  for (const { runs: members, adHoc } of chosen) {
    const first = members[0]!;
    const key = adHoc ? `+${first.id}` : partKey(first, grouping);
    parts.set(key, [...(parts.get(key) ?? []), ...members]);
  }
  if (parts.size === 1 && refs.length > 1 && grouping !== "none") return selectSides(refs, runs, "none");
  return { sides: [...parts.values()].map((part) => sideOf(part, runs)), unknown };
}

/** Returns the reference of an ad-hoc group of runs. */
export function joinRuns(ids: readonly string[]): string {
  return ids.join("+");
}

/** Returns the references with those of `sides` replaced by one ad-hoc group of all of their runs. */
export function mergeSides(all: readonly Side[], merged: readonly Side[]): string[] {
  const refs = new Set(merged.map((side) => side.ref));
  const at = all.findIndex((side) => refs.has(side.ref));
  const joined = joinRuns(merged.flatMap((side) => side.runs));
  return all.flatMap((side, index) => (index === at ? [joined] : refs.has(side.ref) ? [] : [side.ref]));
}

/** Returns the references without `side`, and with its runs as single references if it is split. */
export function withoutSide(all: readonly Side[], removed: Side, split = false): string[] {
  return all.flatMap((side) => (side.ref !== removed.ref ? [side.ref] : split ? side.runs : []));
}

function partKey(run: ListedRun, grouping: Grouping): string {
  if (grouping === "seed" && run.group) return `group ${run.group}`;
  if (grouping === "variant" && run.preset) return `variant ${run.preset}`;
  return `run ${run.id}`;
}

function sideOf(part: readonly ListedRun[], all: readonly ListedRun[]): Side {
  const first = part[0]!;
  const members = [...part].sort((a, b) => (a.seed ?? 0) - (b.seed ?? 0));
  const ids = members.map((run) => run.id);
  const group = first.group;
  const whole = group ? all.filter((run) => run.group === group) : [];
  const sameGroup = group !== null && part.every((run) => run.group === group);
  if (sameGroup && whole.length > 1 && whole.length === part.length)
    return { ref: group, label: group, runs: ids, kind: "group" };
  if (part.length === 1) return { ref: first.id, label: first.name || first.id, runs: ids, kind: "run" };
  return { ref: joinRuns(ids), label: setLabel(members, sameGroup ? group : null), runs: ids, kind: "set" };
}

function setLabel(members: readonly ListedRun[], group: string | null): string {
  if (group) return `${group} (${members.length} seeds)`;
  const presets = new Set(members.map((run) => run.preset));
  if (presets.size === 1 && members[0]!.preset) return `${members[0]!.preset} (${members.length} runs)`;
  return members.map((run) => run.name || run.id).join(" + ");
}

/** Returns the runs that a reference means; none if it is not known. */
function resolve(ref: string, runs: readonly ListedRun[]): ListedRun[] {
  const group = runs.filter((run) => run.group === ref);
  if (group.length > 0) return group;
  const single = resolveRun(ref, runs);
  if (single) return [single];
  const members = joinedParts(ref).map((part) => resolveRun(part, runs));
  return members.length > 1 && members.every((run) => run !== null) ? members : [];
}

function isJoined(ref: string, runs: readonly ListedRun[]): boolean {
  return !runs.some((run) => run.group === ref) && resolveRun(ref, runs) === null && joinedParts(ref).length > 1;
}

// A plus sign that somebody typed into the address bar arrives as a space.
function joinedParts(ref: string): string[] {
  return ref.split(/[+ ]/).filter((part) => part !== "");
}

/** As the references of the command line: an id, else a name, else the unique beginning of an id. */
function resolveRun(ref: string, runs: readonly ListedRun[]): ListedRun | null {
  if (ref === "@last") return runs[0] ?? null;
  for (const matches of [
    (run: ListedRun) => run.id === ref,
    (run: ListedRun) => run.name === ref,
    (run: ListedRun) => run.id.startsWith(ref),
  ]) {
    const found = runs.filter(matches);
    if (found.length > 0) return found.length === 1 ? found[0]! : null;
  }
  return null;
}
