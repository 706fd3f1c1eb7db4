/** One chart of a run: lines, a stack of shares, or a heat map. */
import { useMemo } from "preact/hooks";
import { HeatChart } from "../../../chart/HeatChart";
import { LineChart } from "../../../chart/LineChart";
import { StackedChart } from "../../../chart/StackedChart";
import { inkAt } from "../../../chart/colors";
import type { ChartMark, LineSeries } from "../../../chart/types";
import type { ChartData, MetricInfo, Span } from "../../../api/types";
import { clockLabel } from "../../../ui/numbers";
import { counted } from "../parts/text";
import { isEvaluation } from "./keys";
import type { ChartView } from "./view";

export const CHART_HEIGHT = 150;
/** Charts with this name share their crosshair and zoom. */
export const SYNC = "run";

interface Props {
  chart: ChartData;
  view: ChartView;
  marks: ChartMark[];
  help: MetricInfo | undefined;
  bounds?: Span | null | undefined;
  /** What the x axis covers without zoom: the same for all charts. */
  xRange: readonly [number, number] | undefined;
  onZoom: (low: number | null, high: number | null) => void;
  link: string;
}

export function MetricChart({ chart, view, marks, help, bounds, xRange, onZoom, link }: Props) {
  const series = useMemo(() => lineSeries(chart), [chart]);
  const shared = {
    title: chart.title,
    unit: chart.unit,
    help,
    note: noteOf(chart),
    xLabel: clockLabel(chart.x),
    marks,
    sync: SYNC,
    height: CHART_HEIGHT,
    onZoom,
    link,
    xRange,
  };
  if (chart.kind === "heat") {
    const rows = chart.series.map((line) => ({ label: line.label, values: line.y }));
    return <HeatChart {...shared} x={chart.series[0]?.x ?? []} rows={rows} />;
  }
  if (chart.kind === "stacked") return <StackedChart {...shared} series={series} />;
  return (
    <LineChart
      {...shared}
      series={series}
      healthy={chart.healthy}
      bounds={bounds}
      range={chart.range}
      lines={chart.lines}
      log={chart.log || view.log}
      smoothing={view.smoothing}
      digits={chart.scale_each ? undefined : help?.digits}
    />
  );
}

/** Returns what the chart does not draw. */
function noteOf({ left_out, ticks }: ChartData): string | undefined {
  if (left_out) return `${left_out} more are not drawn`;
  return ticks ? `${ticks.label}: ${counted(ticks.x.length, "time")}` : undefined;
}

function lineSeries(chart: ChartData): LineSeries[] {
  return chart.series.map((line, index) => ({
    ...inkAt(index),
    key: line.key,
    label: line.label,
    exact: isEvaluation(line.key),
    x: line.x,
    y: line.y,
    low: line.low ?? undefined,
    high: line.high ?? undefined,
  }));
}
