/** Keys of metrics: their scopes (a role, a task, `eval`), titles, and the list that the picker shows. */
import type { MetricInfo } from "../../api/types";

export const EVALUATION_RETURN = "eval:episode/return";

export interface MetricKey {
  key: string;
  /** `eval/seeker`; empty for the metrics of training. */
  scope: string;
  name: string;
}

/** A metric of the picker with all the keys under which the runs recorded it. */
export interface PickerMetric {
  name: string;
  info: MetricInfo | null;
  keys: MetricKey[];
}

export interface PickerSection {
  section: string;
  metrics: PickerMetric[];
}

/** Shown if the runs have them and the URL names no metrics; the evaluation return always comes first. */
const DEFAULT_NAMES = ["episode/return", "policy/entropy", "policy/kl", "value/explained_variance", "speed/env_steps"];

/** Number of charts of runs that have all of these. */
export const DEFAULT_CHARTS = DEFAULT_NAMES.length + 1;

export function splitKey(key: string): MetricKey {
  const colon = key.lastIndexOf(":");
  return { key, scope: colon < 0 ? "" : key.slice(0, colon), name: key.slice(colon + 1) };
}

/** Returns the catalogue entry of a key: `rollout/obs_mean.3` is described by `rollout/obs_mean.K`. */
export function infoOf(key: string, catalogue: ReadonlyMap<string, MetricInfo>): MetricInfo | null {
  const { name } = splitKey(key);
  const component = name.replace(/\.\d+$/, ".K");
  const outcome = name.replace(/^match\/.*_share$/, "match/OUTCOME_share");
  return catalogue.get(name) ?? catalogue.get(component) ?? catalogue.get(outcome) ?? null;
}

/** Returns the name of a chart: `Evaluation return`, `policy/kl · seeker`. */
export function keyTitle(key: string): string {
  if (key === EVALUATION_RETURN) return "Evaluation return";
  const { scope, name } = splitKey(key);
  return scope === "" ? name : `${name} · ${scopeTitle(scope)}`;
}

export function scopeTitle(scope: string): string {
  if (scope === "") return "training";
  return scope.split("/").map((part) => (part === "eval" ? "evaluation" : part)).join(" ");
}

/** Returns the charts of a comparison without a choice in the URL. `known`: keys that the runs recorded. */
export function defaultMetrics(known: ReadonlySet<string>): string[] {
  const chosen = [EVALUATION_RETURN];
  for (const name of DEFAULT_NAMES) {
    const keys = known.has(name) ? [name] : scopedKeys(name, known).filter((key) => !splitKey(key).scope.startsWith("eval"));
    chosen.push(...keys);
  }
  return chosen;
}

/** Returns the keys that record the same metric as `key` for other roles or tasks, in the same kind of scope. */
export function siblingKeys(key: string, known: ReadonlySet<string>): string[] {
  const { scope, name } = splitKey(key);
  const evaluation = scope === "eval" || scope.startsWith("eval/");
  const depth = evaluation ? 2 : 1;
  return scopedKeys(name, known).filter((other) => {
    const parts = splitKey(other).scope.split("/");
    return other !== key && (parts[0] === "eval") === evaluation && parts.length === depth && other !== "";
  });
}

/** Returns the metrics of the picker, in the order of the catalogue; metrics without an entry come last. */
export function pickerSections(
  known: ReadonlySet<string>,
  catalogue: readonly MetricInfo[],
  search: string,
): PickerSection[] {
  const infos = new Map(catalogue.map((info) => [info.name, info]));
  const rank = new Map(catalogue.map((info, index) => [info.name, index]));
  const byName = new Map<string, PickerMetric>();
  for (const key of [...known].sort(compareKeys)) {
    const split = splitKey(key);
    const info = infoOf(key, infos);
    const metric = byName.get(split.name) ?? { name: split.name, info, keys: [] };
    metric.keys.push(split);
    byName.set(split.name, metric);
  }
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const matching = [...byName.values()].filter((metric) => {
    const text = `${metric.name} ${metric.info?.meaning ?? ""} ${metric.keys.map((k) => k.scope).join(" ")}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const place = (metric: PickerMetric) => (metric.info ? rank.get(metric.info.name)! : catalogue.length);
  matching.sort((a, b) => place(a) - place(b) || compareKeys(a.name, b.name));
  const sections = new Map<string, PickerMetric[]>();
  for (const metric of matching) {
    const section = metric.info?.section ?? metric.name.split("/")[0]!;
    if (section === "clock") continue; // a clock is an x axis
    sections.set(section, [...(sections.get(section) ?? []), metric]);
  }
  return [...sections].map(([section, metrics]) => ({ section, metrics }));
}

function scopedKeys(name: string, known: ReadonlySet<string>): string[] {
  return [...known].filter((key) => key.endsWith(`:${name}`)).sort(compareKeys);
}

const ORDER = new Intl.Collator("en", { numeric: true });
function compareKeys(a: string, b: string): number {
  return ORDER.compare(a, b);
}
