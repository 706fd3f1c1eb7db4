/** Lines over a clock. */
import uPlot from "uplot";
import { useEffect, useRef } from "preact/hooks";
import { shownTheme } from "../app/theme";
import { resolved } from "./colors";
import type { LineChartProps } from "./types";
export type { ChartLine, ChartMark, LineChartProps, LineSeries, MarkKind } from "./types";

export function LineChart(props: LineChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const theme = shownTheme.value;
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const tables = props.series.map((s) => [Array.from(s.x), Array.from(s.y)] as uPlot.AlignedData);
    const data = tables.length ? uPlot.join(tables) : ([[]] as unknown as uPlot.AlignedData);
    const plot = new uPlot(
      {
        width: element.clientWidth || 300,
        height: props.height ?? 160,
        legend: { show: false },
        scales: { x: { time: false }, y: { distr: props.log ? 3 : 1 } },
        axes: [{ stroke: resolved("var(--axis)", theme) }, { stroke: resolved("var(--axis)", theme) }],
        series: [{}, ...props.series.map((s) => ({ label: s.label, stroke: resolved(s.color, theme), dash: s.dash, spanGaps: true }))],
      },
      data,
      element,
    );
    return () => plot.destroy();
  }, [props.series, props.log, theme]);
  return (
    <section class="chart" aria-label={props.title}>
      <h3>{props.title}</h3>
      <div ref={host} style={{ height: `${props.height ?? 160}px` }} />
    </section>
  );
}
