import type { HistogramChartProps } from "./types";

export function HistogramChart(props: HistogramChartProps) {
  return <section class="chart" aria-label={props.title} />;
}
