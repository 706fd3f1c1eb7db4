/** Every metric that the run has recorded, by section of the catalogue; a chart is read when it becomes visible. */
import { useQuery } from "../../../api/queries";
import { read } from "../../../api/client";
import type { Alert, ChartData, MetricInfo } from "../../../api/types";
import type { ChartMark } from "../../../chart/types";
import { runPath } from "../../../app/router";
import { ErrorState, Loading } from "../../../ui/states";
import { Lazily } from "../../../ui/Lazily";
import { counted } from "../parts/text";
import type { ClockAxis } from "./axis";
import { isEvaluation, metricFor, SCORED_STEPS, splitKey } from "./keys";
import { metricAlertMarks } from "./marks";
import { CHART_HEIGHT, MetricChart } from "./MetricChart";
import { metricSections, type Families } from "./sections";
import { toggled, type ChartView } from "./view";
import { atScoredPolicies, withMargin, zoomed } from "./zoom";

const POINTS = 400;
/** Enough to know which metrics there are. */
const KEY_POINTS = 8;

interface Props {
  /** Id or name of the run. */
  id: string;
  alerts: readonly Alert[];
  /** Number of rows so far: more of them are read when it has changed. */
  rows: number;
  view: ChartView;
  change: (changes: Partial<ChartView>) => void;
  axis: ClockAxis;
  version: number;
  marks: readonly ChartMark[];
  families: Families;
  catalog: ReadonlyMap<string, MetricInfo>;
  order: readonly string[];
  xRange: readonly [number, number] | undefined;
  onZoom: (low: number | null, high: number | null) => void;
}

export function AllMetrics(props: Props) {
  const { view, change } = props;
  return (
    <section class="run-all">
      <h2>
        <button type="button" aria-expanded={view.all} onClick={() => change({ all: !view.all })}>
          {view.all ? "▾" : "▸"} All metrics
        </button>
      </h2>
      {view.all && <MetricList {...props} />}
    </section>
  );
}

function MetricList(props: Props) {
  const { id, view, change, version, catalog, order } = props;
  const keys = useQuery(`keys:${id}:${version}`, async () => {
    const curves = await read("curves", { refs: [id], names: ["*"], points: KEY_POINTS });
    return curves.series.map((series) => series.key);
  });
  if (keys.error.value && !keys.data.value) return <ErrorState error={keys.error.value} retry={keys.refresh} />;
  if (!keys.data.value) return <Loading what="the metrics" rows={8} />;
  const sections = metricSections(keys.data.value, order, view.filter, (key) => metricFor(key, catalog)?.meaning ?? "");
  const found = sections.reduce((sum, section) => sum + section.keys.length, 0);
  return (
    <>
      <div class="run-toolbar">
        <input
          type="search"
          data-search
          aria-label="Filter the metrics"
          placeholder="Filter by name or meaning"
          value={view.filter}
          onInput={(event) => change({ filter: event.currentTarget.value })}
        />
        <span class="muted">{counted(found, "metric")}</span>
      </div>
      {sections.map((section) => {
        const open = view.open.has(section.name);
        return (
          <div key={section.name} class="run-metric-section">
            <h3>
              <button type="button" aria-expanded={open} onClick={() => change({ open: toggled(view.open, section.name) })}>
                {open ? "▾" : "▸"} {section.name} <span class="muted">{section.keys.length}</span>
              </button>
            </h3>
            {open && (
              <div class="run-grid">
                {section.keys.map((key) => (
                  <div class="run-cell" key={key}>
                    <Lazily height={CHART_HEIGHT + 46}>{() => <OneMetric {...props} metric={key} />}</Lazily>
                  </div>
                ))}
              </div>
            )}
          </div>
        );
      })}
      {!found && <p class="muted run-none">No metric matches.</p>}
    </>
  );
}

function OneMetric({ id, alerts, rows, view, metric, axis, version, marks, families, catalog, xRange, onZoom }: Props & { metric: string }) {
  const range = view.range;
  const place = `${id}:${metric}:${view.x}:${range?.join() ?? ""}:${version}:${rows}`;
  const curves = useQuery(`curve:${place}`, () =>
    read("curves", {
      refs: [id],
      names: isEvaluation(metric) ? [...new Set([metric, SCORED_STEPS])] : [metric],
      x: view.x,
      points: POINTS,
      ...(range ? { low: withMargin(range)[0], high: withMargin(range)[1] } : {}),
    }),
  );
  const help = metricFor(metric, catalog);
  const chart: ChartData = {
    name: metric,
    family: families.of(metric),
    title: metric,
    about: "",
    x: view.x,
    kind: "line",
    unit: help?.unit ?? "",
    log: false,
    scale_each: false,
    left_out: 0,
    // A range without ends is no range: every value is healthy.
    healthy: help?.healthy?.some((end) => end !== null) ? help.healthy : null,
    range: null,
    lines: [],
    ticks: null,
    alerts: [],
    events: [],
    series: [{ key: metric, label: splitKey(metric).name, x: [], y: [], low: null, high: null }],
  };
  const own = view.marks.has("alert") ? metricAlertMarks(alerts, metric, axis, chart.family) : [];
  if (curves.error.value && !curves.data.value) return <ErrorState error={curves.error.value} retry={curves.refresh} />;
  return (
    <MetricChart
      chart={curves.data.value ? zoomed(chart, atScoredPolicies(curves.data.value, axis)) : chart}
      view={view}
      marks={[...own, ...marks]}
      help={help}
      bounds={help?.bounds}
      xRange={xRange}
      onZoom={onZoom}
      link={`${runPath(id, "charts")}?all=1&metric=${encodeURIComponent(metric)}`}
    />
  );
}

