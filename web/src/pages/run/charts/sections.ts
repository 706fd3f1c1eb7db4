/** Which section of the page a chart or a metric belongs to, in the order of the metric catalogue. */
import type { ChartData, MetricInfo } from "../../../api/types";
import { sectionOf, splitKey } from "./keys";

export interface ChartSection {
  name: string;
  charts: ChartData[];
}

export interface MetricSection {
  name: string;
  keys: string[];
}

/** Returns the sections of the catalogue in its order. Evaluations follow the episodes of training. */
export function sectionOrder(catalog: readonly MetricInfo[]): string[] {
  const order: string[] = [];
  for (const { section } of catalog) {
    if (order.includes(section)) continue;
    order.push(section);
    if (section === "episode") order.push("eval");
  }
  return order;
}

/** Groups charts by the section of their metrics. The section `eval` has no charts: they show training as well. */
export function chartSections(charts: readonly ChartData[], order: readonly string[]): ChartSection[] {
  const found = new Map<string, ChartData[]>();
  for (const chart of charts) {
    const name = splitKey(chart.series[0]?.key ?? "").name.split("/", 1)[0]!;
    found.set(name, [...(found.get(name) ?? []), chart]);
  }
  return sorted(found, order).map(([name, grouped]) => ({ name, charts: grouped }));
}

/** Groups the keys that a run has recorded and that contain every word of the filter, in the order of the catalogue. */
export function metricSections(
  keys: readonly string[],
  order: readonly string[],
  filter: string,
  meaning: (key: string) => string = () => "",
): MetricSection[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = new Map<string, string[]>();
  for (const key of keys) {
    const text = `${key} ${meaning(key)}`.toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    const section = sectionOf(key);
    found.set(section, [...(found.get(section) ?? []), key]);
  }
  return sorted(found, order).map(([name, grouped]) => ({ name, keys: grouped }));
}

function sorted<T>(found: Map<string, T>, order: readonly string[]): [string, T][] {
  const place = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...found].sort(([a], [b]) => place(a) - place(b));
}

/** Says which family of charts, and so which section of the chart guide, explains a metric or an alert. */
export class Families {
  private readonly byAlert = new Map<string, string>();
  private readonly byMetric = new Map<string, string>();
  private readonly bySection = new Map<string, string>();

  constructor(charts: readonly ChartData[]) {
    for (const chart of charts) {
      for (const alert of chart.alerts) this.byAlert.set(alert.id, chart.family);
      for (const { key } of chart.series) {
        const { name } = splitKey(key);
        if (!this.byMetric.has(name)) this.byMetric.set(name, chart.family);
        const section = name.split("/", 1)[0]!;
        if (!this.bySection.has(section)) this.bySection.set(section, chart.family);
      }
    }
  }

  /** Returns the family of a metric's key; empty if no chart of the run is about it. */
  of(key: string): string {
    const { name } = splitKey(key);
    return this.byMetric.get(name) ?? this.bySection.get(name.split("/", 1)[0]!) ?? "";
  }

  ofAlert(id: string): string {
    return this.byAlert.get(id) ?? this.of(id.slice(0, id.lastIndexOf(":")));
  }
}

/** Returns the address of the section of the chart guide about a family, relative to the base of the app. */
export function guideHref(family: string): string {
  return family ? `guide#${family}` : "guide";
}
