/** One chart of the comparison: a metric of all sides. */
import type { ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { MetricInfo, RunSummary } from "../../api/types";
import { LineChart } from "../../chart/LineChart";
import { clockLabel } from "../../ui/numbers";
import { ErrorState, Loading } from "../../ui/states";
import { keyTitle } from "./keys";
import { chartSeries, sideOfLine } from "./series";
import type { Side } from "./sides";
import type { SideStyles } from "./styles";
import { useCurves } from "./useCurves";
import { viewPath, type CompareView } from "./view";
import { CHART_GROUP } from "./useZoom";
import { useSeen } from "./visible";

/** Height of a plot: four rows of charts fit on a laptop's screen. */
const HEIGHT = window.innerHeight > 1000 ? 180 : 140;
/** Height with header and legend. */
export const CHART_HEIGHT = HEIGHT + 56;
/** With more sides, the list at the left is the legend of all charts. */
const MAX_LISTED = 3;
const WIDTH = 400;

/** What all charts of the page have in common. */
export interface SharedProps {
  sides: readonly Side[];
  runs: readonly RunSummary[];
  styles: SideStyles;
  view: CompareView;
  highlighted: ReadonlySignal<string>;
  onHighlight: (ref: string) => void;
  /** Called when a chart has its first data. */
  onLoaded: () => void;
}

interface Props extends SharedProps {
  /** Whether the data is read now. */
  isWanted: boolean;
  metric: string;
  info: MetricInfo | null;
  /** Adds the charts of the same metric for each role or task. */
  onSplit: (() => void) | undefined;
  onRemove: (() => void) | undefined;
}

export function CompareChart(props: Props) {
  const { metric, info, sides, runs, styles, view, highlighted } = props;
  const box = useRef<HTMLDivElement>(null);
  const seen = useSeen(box);
  const width = box.current?.clientWidth || WIDTH;
  const { curves, seeds, range, error, retry } = useCurves(metric, sides, runs, view, width, seen.value && props.isWanted);
  const isLoaded = curves !== undefined || error !== undefined;
  useEffect(() => {
    if (isLoaded) props.onLoaded();
  }, [isLoaded]);
  const names = useMemo(() => new Map(runs.map((run) => [run.id, run.name || run.id])), [runs.map((run) => run.name).join("\n")]);
  const series = useMemo(
    () =>
      chartSeries(
        {
          key: metric,
          sides,
          hidden: new Set(view.hidden),
          color: styles.color,
          dash: styles.dash,
          nameOf: (id) => names.get(id) ?? id,
        },
        curves,
        seeds,
      ),
    [metric, sides, view.hidden.join("\n"), styles, names, curves, seeds],
  );
  const isEmpty = curves !== undefined && curves.series.every((one) => one.key !== metric);
  return (
    <div ref={box} class="compare-chart" data-metric={metric}>
      {error && !curves && <ErrorState error={error} retry={retry} height={HEIGHT} />}
      {!error && !curves && <Loading what={keyTitle(metric)} height={CHART_HEIGHT} />}
      {curves && (
        <LineChart
          title={keyTitle(metric)}
          unit={info?.unit}
          help={info ?? undefined}
          note={isEmpty ? "None of these runs recorded this metric." : undefined}
          xLabel={clockLabel(view.x)}
          series={series}
          digits={info?.digits}
          actions={[
            ...(props.onSplit ? [{ label: "One chart per role or task", run: props.onSplit }] : []),
            ...(props.onRemove ? [{ label: "Remove this chart", run: props.onRemove }] : []),
          ]}
          highlighted={highlighted.value}
          onHover={(key) => props.onHighlight(sideOfLine(key, sides)?.ref ?? "")}
          log={view.log}
          smoothing={view.smoothing}
          sync={CHART_GROUP}
          height={HEIGHT}
          hasLegend={sides.length <= MAX_LISTED}
          xRange={range}
          link={viewPath({ ...view, metrics: [metric] })}
        />
      )}
    </div>
  );
}
