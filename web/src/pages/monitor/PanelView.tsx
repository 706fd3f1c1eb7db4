/** One panel of a chart: lines, stacked shares or a histogram. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { MetricInfo, SourceColumn } from "../../api/types";
import { HistogramChart } from "../../chart/HistogramChart";
import { LineChart } from "../../chart/LineChart";
import { StackedChart } from "../../chart/StackedChart";
import { Dialog } from "../../ui/Dialog";
import { Table, type Column } from "../../ui/Table";
import type { Panel } from "./panels";
import { histogramSeries, lineSeries, shareSeries, type Inks } from "./series";

export const CHART_HEIGHT = 150;
/** Height with header and legend. */
export const CELL_HEIGHT = CHART_HEIGHT + 56;
/** Charts with this name share their crosshair and zoom. */
export const SYNC = "monitor";
const SHARES: [number, number] = [0, 1];

interface Props {
  panel: Panel;
  inks: Inks;
  /** The metric that it shows; undefined if it is not in the catalogue. */
  help: MetricInfo | undefined;
  link: string;
}

export function PanelView({ panel, inks, help, link }: Props) {
  const { chart, title } = panel;
  const showsSources = useSignal(false);
  const series = useMemo(() => (chart.kind === "stacked shares" ? shareSeries(panel, inks) : lineSeries(panel, inks)), [chart, inks]);
  const shared = {
    title,
    unit: chart.unit,
    help,
    xLabel: chart.x_label,
    height: CHART_HEIGHT,
    link,
    footnote: chart.note,
    actions: [{ label: "Show the sources", run: () => (showsSources.value = true) }],
  };
  return (
    <>
      {chart.kind === "histogram" ? (
        <HistogramChart {...shared} yLabel="share" series={histogramSeries(panel, inks)} />
      ) : chart.kind === "stacked shares" ? (
        <StackedChart {...shared} sync={SYNC} series={series} />
      ) : (
        <LineChart
          {...shared}
          sync={SYNC}
          series={series}
          range={chart.unit === "share" && help?.section !== "policy" ? SHARES : undefined}
          healthy={help?.healthy?.some((end) => end !== null) ? help.healthy : null}
          digits={help?.digits}
        />
      )}
      {showsSources.value && <Sources title={title} sources={chart.sources} onClose={() => (showsSources.value = false)} />}
    </>
  );
}

const COLUMNS: Column<SourceColumn>[] = [
  { key: "file", label: "file", cell: ({ file }) => <code>{file}</code> },
  { key: "column", label: "column", cell: ({ column }) => <code>{column}</code> },
];

function Sources({ title, sources, onClose }: { title: string; sources: readonly SourceColumn[]; onClose: () => void }) {
  return (
    <Dialog title={`Sources of ${title}`} onClose={onClose} className="wide">
      <Table label={`Sources of ${title}`} columns={COLUMNS} rows={sources} rowKey={({ file, column }) => `${file} ${column}`} />
    </Dialog>
  );
}
