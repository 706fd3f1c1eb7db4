/** The series of a panel as the chart components draw them. Pure functions. */
import type { MonitorChart, MonitorSeries } from "../../api/types";
import { colorOf, inkAt, type Ink } from "../../chart/colors";
import type { HistogramChartProps, LineSeries } from "../../chart/types";
import { aligned, roleColor } from "../selfplay/curves";
import { outcomeOrder, UNKNOWN } from "./overview";
import type { Panel } from "./panels";

/** Colors that are the same in all charts of the page. */
export interface Inks {
  /** Approach -> color and dash. */
  approaches: ReadonlyMap<string, Ink>;
  /** All roles; their positions are their colors. */
  roles: readonly string[];
  /** All known outcomes; their positions are their colors. */
  outcomes: readonly string[];
}

/** Returns the colors of a report. */
export function inksOf(charts: readonly MonitorChart[], approaches: ReadonlyMap<string, Ink>): Inks {
  const roles = charts.flatMap((chart) => chart.series.map((series) => series.role));
  const stacked = charts.filter((chart) => chart.kind === "stacked shares").flatMap((chart) => chart.series);
  return {
    approaches,
    roles: [...new Set(roles)].filter((role) => role !== ""),
    outcomes: outcomeOrder(stacked.map((series) => series.label)).filter((outcome) => outcome !== UNKNOWN),
  };
}

/** Returns the lines of a panel: an approach has its color, a role of a single run its own. */
export function lineSeries(panel: Panel, inks: Inks): LineSeries[] {
  return panel.series.map((series, index) => ({
    key: keyOf(series),
    label: series.label,
    ...inkOf(panel, series, index, inks),
    x: series.x,
    y: series.y,
    low: series.low.length === series.x.length ? series.low : undefined,
    high: series.high.length === series.x.length ? series.high : undefined,
    // The report has smoothed what may be smoothed.
    exact: true,
  }));
}

/** Returns the areas of a panel with shares, at common positions; unknown outcomes are gray and on top. */
export function shareSeries(panel: Panel, inks: Inks): LineSeries[] {
  const order = [...inks.outcomes, UNKNOWN];
  const ordered = [...panel.series].sort((a, b) => order.indexOf(a.label) - order.indexOf(b.label));
  return aligned(
    ordered.map((series) => ({
      key: keyOf(series),
      label: series.label,
      // The first colors are those of the roles.
      color: series.label === UNKNOWN ? "var(--muted)" : inkAt(inks.outcomes.indexOf(series.label) + 2).color,
      x: series.x,
      y: series.y,
    })),
  );
}

export function histogramSeries(panel: Panel, inks: Inks): HistogramChartProps["series"] {
  return panel.series.map((series, index) => ({
    key: keyOf(series),
    label: series.label,
    // Of one run, earlier matches are gray behind the later ones.
    color: panel.chart.about === "run" && index < panel.series.length - 1 ? "var(--border-strong)" : inkOf(panel, series, 0, inks).color,
    edges: series.x,
    counts: series.y,
  }));
}

function inkOf({ chart, series: all }: Panel, series: MonitorSeries, index: number, inks: Inks): Ink {
  if (chart.about === "approach") return inks.approaches.get(series.approach) ?? inkAt(index);
  if (series.role !== "") return { color: roleColor(series.role, inks.roles) };
  return all.length === 1 || chart.kind === "histogram" ? { color: colorOf(chart.run).color } : inkAt(index);
}

function keyOf({ approach, role, label }: MonitorSeries): string {
  return `${approach}/${role}/${label}`;
}
