/** Which runs the page shows: by environment, approach and run. Pure functions. */
import { commandText } from "../../api/command";
import type { RunSummary } from "../../api/types";
import { DEFAULT_SMOOTH, type MonitorView } from "./view";

type Known = Pick<RunSummary, "id" | "name" | "env" | "algo" | "variant" | "tags" | "status" | "seed" | "clocks">;

export interface Choice<R extends Known = RunSummary> {
  /** The environment that is shown; empty if there are no runs. */
  env: string;
  /** Environments with their numbers of runs; that of the newest run is first. */
  envs: [env: string, count: number][];
  /** Approaches of the environment with their numbers of runs, by name. */
  approaches: [approach: string, count: number][];
  /** Runs of the chosen approaches, newest first: those that can be chosen. */
  candidates: R[];
  /** The runs that are shown: at most MAX_RUNS, the newest ones. */
  chosen: R[];
  /** Number of runs that are too many to be shown. */
  leftOut: number;
  /** Chosen approaches and runs that the environment does not have. */
  unknown: string[];
}

/** Each run has about 20 charts with up to 500 points. */
export const MAX_RUNS = 50;

/** Returns the approach that a run belongs to: its tag if it has exactly one, else its variant, else its algorithm. */
export function approachOf(run: Pick<RunSummary, "tags" | "variant" | "algo">): string {
  return (run.tags.length === 1 ? run.tags[0] : "") || run.variant || run.algo;
}

/** Returns the choice of a view. `runs`: all, newest first. Runs that cannot be read, or that have no rows yet, are none
 * to choose. */
export function chooseRuns<R extends Known>(runs: readonly R[], view: Pick<MonitorView, "env" | "approaches" | "runs">): Choice<R> {
  const usable = runs.filter(isUsable);
  const envs = counted(usable.map((run) => run.env));
  const env = view.env || (envs[0]?.[0] ?? "");
  const own = usable.filter((run) => run.env === env);
  const approaches = counted(own.map(approachOf)).sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
  const known = new Set([...approaches.map(([approach]) => approach), ...own.map((run) => run.id)]);
  const wanted = view.approaches.filter((approach) => known.has(approach));
  const candidates = wanted.length ? own.filter((run) => wanted.includes(approachOf(run))) : own;
  const named = candidates.filter((run) => view.runs.includes(run.id));
  const selected = named.length ? named : candidates;
  return {
    env,
    envs,
    approaches,
    candidates,
    chosen: selected.slice(0, MAX_RUNS),
    leftOut: Math.max(0, selected.length - MAX_RUNS),
    unknown: [...view.approaches, ...view.runs].filter((name) => !known.has(name)),
  };
}

/** Returns the runs of an environment that have no rows yet, which the page shows as soon as they have. */
export function waitingRuns<R extends Known>(runs: readonly R[], env: string): R[] {
  return runs.filter((run) => run.env === env && run.status !== "unreadable" && !isUsable(run));
}

/** Returns the command that monitors the same runs. It names them one by one unless the whole environment or all runs of the
 * approaches are shown. `runs`: all. */
export function monitorCommand(runs: readonly Known[], choice: Choice<Known>, view: MonitorView): string {
  const options = { smooth: view.smooth === DEFAULT_SMOOTH ? null : view.smooth, "skip-broken": view.skipBroken };
  const all = runs.filter((run) => run.status !== "unreadable");
  const isWhole = (selected: readonly Known[]) => selected.length === choice.chosen.length;
  const own = all.filter((run) => run.env === choice.env);
  // Without a selection, the command takes the runs of the newest run's environment.
  const env = choice.env === all[0]?.env ? null : choice.env;
  if (isWhole(own)) return commandText({ command: "monitor", options: { env, ...options } });
  const approaches = [...new Set(choice.chosen.map(approachOf))].sort();
  const hasOne = (run: Known) => approaches.some((name) => run.tags.includes(name) || run.variant === name);
  if (isWhole(own.filter(hasOne))) {
    const isElsewhere = !isWhole(all.filter(hasOne));
    return commandText({ command: "monitor", options: { env: isElsewhere ? choice.env : null, approach: approaches, ...options } });
  }
  return commandText({ command: "monitor", options: { run: choice.chosen.map((run) => run.id), ...options } });
}

function isUsable(run: Known): boolean {
  return run.status !== "unreadable" && (run.clocks["env_steps"] ?? 0) > 0;
}

function counted(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts];
}
