import type { HeatChartProps } from "./types";

export function HeatChart(props: HeatChartProps) {
  return <section class="chart" aria-label={props.title} />;
}
