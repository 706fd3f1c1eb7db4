/** Charts over the steps of the episode. They share crosshair and zoom, mark the current step, and a click seeks. */
import { useMemo } from "preact/hooks";
import { LineChart } from "../../../chart/LineChart";
import { StackedChart } from "../../../chart/StackedChart";
import { Loading } from "../../../ui/states";
import { numbersOf } from "../columns";
import { useEpisode } from "../store";
import { episodeCharts, seriesOf, type EpisodeChart } from "./series";

const HEIGHT = 138;
const ZERO = [{ y: 0, label: "" }];

export function Charts() {
  const store = useEpisode();
  const columns = store.inspection.value?.columns;
  const charts = useMemo(() => (columns ? episodeCharts(columns) : []), [columns]);
  if (!columns) {
    return (
      <div class="episode-charts">
        {[0, 1, 2, 3].map((i) => (
          <Loading key={i} what="a chart" height={HEIGHT + 44} />
        ))}
      </div>
    );
  }
  return (
    <div class="episode-charts">
      {charts.map((chart) => (
        <Chart key={chart.key} chart={chart} />
      ))}
    </div>
  );
}

function Chart({ chart }: { chart: EpisodeChart }) {
  const store = useEpisode();
  const inspection = store.inspection.value;
  const variation = store.variation.value;
  const length = store.length.value;
  const series = useMemo(() => {
    const played = variation && ((name: string) => numbersOf(inspection?.table[name]));
    return seriesOf(chart, inspection?.columns ?? [], (name) => store.numbers(name), played);
  }, [chart, inspection, variation]);
  const xRange = useMemo(() => [0, Math.max(1, length)] as const, [length]);
  const props = {
    title: chart.title,
    unit: chart.unit,
    xLabel: "step",
    series,
    xRange,
    height: HEIGHT,
    sync: "episode",
    position: store.shown,
    onPick: (x: number) => store.seek(x),
  };
  if (chart.isStacked) return <StackedChart {...props} />;
  return <LineChart {...props} lines={chart.hasZero ? ZERO : undefined} />;
}
