/** Sections of the charts: the comparison of approaches, and the charts of single runs. Pure functions. */
import type { MonitorChart } from "../../api/types";
import { splitKey } from "../compare/keys";
import type { Arrangement } from "./view";

export interface ChartSection {
  /** Unique among the sections. */
  key: string;
  title: string;
  charts: MonitorChart[];
}

export const APPROACHES = "approaches";

const OTHER = "Other";
/** What charts measure, in the order of the page. */
const MEASURES = ["Reward", "Win rate", "Outcomes", "Environment", "Length", "PPO health", OTHER] as const;
/** Metrics without their scope -> what a chart of them measures. */
const METRICS: readonly [metric: RegExp, measure: (typeof MEASURES)[number]][] = [
  [/^episode\/return/, "Reward"],
  [/^(league|match)\/(win|rating)/, "Win rate"],
  [/^match\/\w+_share$/, "Outcomes"],
  [/^env\//, "Environment"],
  [/^(episode|match)\/(length|duration)/, "Length"],
  [/^(policy|value)\//, "PPO health"],
];

/** Returns what a chart measures, by the columns that it was drawn from. */
export function measureOf(chart: Pick<MonitorChart, "kind" | "sources">): (typeof MEASURES)[number] {
  if (chart.kind === "histogram") return "Length"; // drawn from stored matches, which have no columns
  const names = chart.sources.map(({ column }) => splitKey(column).name);
  return METRICS.find(([metric]) => names.some((name) => metric.test(name)))?.[1] ?? OTHER;
}

/** Returns the sections in the order of the page. `nameOf`: the name of a run. */
export function chartSections(charts: readonly MonitorChart[], arrangement: Arrangement, nameOf: (run: string) => string): ChartSection[] {
  const compared = charts.filter((chart) => chart.about === "approach");
  const single = inOrder(charts.filter((chart) => chart.about === "run"));
  const sections = grouped(single, arrangement === "run" ? (chart) => chart.run : measureOf).map(([key, members]) => ({
    key,
    title: arrangement === "run" ? nameOf(key) : key,
    charts: members,
  }));
  return compared.length ? [{ key: APPROACHES, title: "Approaches", charts: inOrder(compared) }, ...sections] : sections;
}

function inOrder(charts: readonly MonitorChart[]): MonitorChart[] {
  const place = (chart: MonitorChart) => MEASURES.indexOf(measureOf(chart));
  return [...charts].sort((a, b) => place(a) - place(b)); // stable: the order of the report within a measure
}

function grouped(charts: readonly MonitorChart[], keyOf: (chart: MonitorChart) => string): [string, MonitorChart[]][] {
  const groups = new Map<string, MonitorChart[]>();
  for (const chart of charts) {
    const key = keyOf(chart);
    groups.set(key, [...(groups.get(key) ?? []), chart]);
  }
  return [...groups];
}
