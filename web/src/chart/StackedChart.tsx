import type { StackedChartProps } from "./types";

export function StackedChart(props: StackedChartProps) {
  return <section class="chart" aria-label={props.title} />;
}
