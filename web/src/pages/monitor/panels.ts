/** Charts as they are drawn: roles and approaches that would hide each other have panels of their own. Pure functions. */
import type { MonitorChart, MonitorSeries } from "../../api/types";

export interface Panel {
  /** Unique among the panels of all charts; also the end of its address. */
  name: string;
  title: string;
  chart: MonitorChart;
  series: MonitorSeries[];
}

/** Returns the panels of a chart. Lines of one run share a panel, since its roles have different colors; else there is one
 * per role, and of stacked shares one per approach. */
export function panelsOf(chart: MonitorChart, title = chart.title): Panel[] {
  const split = splitBy(chart);
  const groups = new Map<string, MonitorSeries[]>();
  for (const series of chart.series) {
    const group = split(series);
    groups.set(group, [...(groups.get(group) ?? []), series]);
  }
  if (groups.size === 1) return [{ name: chart.name, title, chart, series: chart.series }];
  return [...groups].map(([group, series]) => ({
    name: `${chart.name}-${group}`,
    title: [...new Set([onlyApproach(chart, series), group])].filter((part) => part !== "").concat(title).join(" · "),
    chart,
    series,
  }));
}

/** Returns the approach of a panel without others, which has no legend; empty if other panels have no others either. */
function onlyApproach(chart: MonitorChart, series: readonly MonitorSeries[]): string {
  const [first = "", ...others] = new Set(series.map((one) => one.approach));
  return others.length === 0 && chart.series.some((one) => one.approach !== first) ? first : "";
}

function splitBy(chart: MonitorChart): (series: MonitorSeries) => string {
  if (chart.kind === "stacked shares") return (series) => series.approach;
  if (chart.about === "run" && chart.kind === "lines") return () => "";
  return (series) => series.role;
}
