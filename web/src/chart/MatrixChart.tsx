import type { MatrixChartProps } from "./types";

export function MatrixChart(props: MatrixChartProps) {
  return <section class="chart" aria-label={props.title} />;
}
