/** Charts of a run in the order of the metric catalogue, live, with one x axis, zoom and crosshair for all. */
import { useComputed } from "@preact/signals";
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import type { Alert, ChartData, Clock, MetricInfo, RunDetails } from "../../../api/types";
import { useActions } from "../../../app/palette";
import { navigate, route, runPath } from "../../../app/router";
import { Empty, ErrorState, Loading } from "../../../ui/states";
import type { ChartMark } from "../../../chart/types";
import { Lazily } from "../../../ui/Lazily";
import type { RunModel } from "../model";
import { isLive } from "../header/actions";
import { AllMetrics } from "./AllMetrics";
import { ChartToolbar } from "./ChartToolbar";
import { metricFor } from "./keys";
import { alertMarks, sharedMarks } from "./marks";
import { CHART_HEIGHT, MetricChart } from "./MetricChart";
import { chartSections, Families, guideHref, sectionOrder, type ChartSection } from "./sections";
import { useCharts } from "./useCharts";
import { useZoom } from "./useZoom";
import { parseView, toggled, viewParams, type ChartView } from "./view";
import { extent, scaledEach, withMargin, zoomed, zoomKeys } from "./zoom";

/** Points of a zoomed curve: about one per pixel of a chart. */
const ZOOM_POINTS = 600;
/** Height of a chart with its title and legend, before it is drawn. */
const NO_ALERTS: readonly Alert[] = [];
export const CELL_HEIGHT = CHART_HEIGHT + 46;

interface Props {
  model: RunModel;
  /** Undefined until it is read: charts are drawn without marks until then. */
  details: RunDetails | undefined;
}

export function ChartsTab({ model, details }: Props) {
  const view = parseView(route.value.params);
  const { charts, axis, error, version, retry } = useCharts(model, view.x);
  const metrics = useQuery("metrics", () => read("metrics", {}));
  const catalog = useComputed(() => new Map((metrics.data.value ?? []).map((metric) => [metric.name, metric])));
  const order = useComputed(() => sectionOrder(metrics.data.value ?? []));
  const families = useComputed(() => new Families(charts.value ?? []));
  const events = model.events.value;
  const { id } = model;

  const change = (changes: Partial<ChartView>) => {
    const { path, params: before } = route.peek();
    const params = viewParams({ ...parseView(before), ...changes }, before);
    navigate(`${path}${params.size ? `?${readable(params)}` : ""}`, { replace: true });
  };
  const range = view.range;
  const onZoom = useZoom(range, (next) => change({ range: next }));
  const keys = charts.value ? zoomKeys(charts.value) : [];
  const detail = useQuery(range && keys.length ? `zoom:${id}:${view.x}:${range.join()}:${version.value}` : "", () =>
    readCurves(id, keys, view.x, range!),
  );
  useActions(() =>
    [...catalog.value.values()].map((metric) => ({
      id: `chart ${metric.name}`,
      label: `Chart of ${metric.name}`,
      kind: "chart",
      keywords: metric.meaning,
      run: () => change({ all: true, filter: metric.name, open: new Set([metric.section]) }),
    })),
  );

  if (error.value && !charts.value) return <ErrorState error={error.value} retry={retry} height={600} />;
  if (!charts.value) return <Loading what="the charts" height={800} />;
  const zoomedIn = range !== undefined && detail.data.value?.x === view.x ? detail.data.value : undefined;
  const shown = charts.value.map((chart) => scaledEach(zoomedIn ? zoomed(chart, zoomedIn) : chart, chart));
  const sections = chartSections(shown, order.value);
  const marks = details ? sharedMarks(details, events, axis.value) : [];
  const visibleMarks = marks.filter((mark) => view.marks.has(mark.kind));
  const xRange = extent(charts.value);
  return (
    <div class="run-charts">
      <ChartToolbar view={view} change={change} sections={sections} marks={marks} alerts={details?.alerts.length ?? 0} />
      {!shown.length && details && <NoCharts id={id} status={details.status} />}
      <div class="run-grid">
        {sections
          .filter((section) => !view.closed.has(section.name))
          .flatMap((section) =>
            section.charts.map((chart, index) => (
              <Cell
                key={chart.name}
                chart={chart}
                section={index === 0 ? section : undefined}
                view={view}
                marks={marksOf(chart, visibleMarks, view)}
                catalog={catalog.value}
                xRange={xRange}
                onZoom={onZoom}
                onClose={() => change({ closed: toggled(view.closed, section.name) })}
                id={id}
              />
            )),
          )}
      </div>
      <AllMetrics
        id={id}
        alerts={details?.alerts ?? NO_ALERTS}
        rows={axis.value.steps.length}
        view={view}
        change={change}
        axis={axis.value}
        version={version.value}
        marks={visibleMarks}
        families={families.value}
        catalog={catalog.value}
        order={order.value}
        xRange={xRange}
        onZoom={onZoom}
      />
    </div>
  );
}

function NoCharts({ id, status }: { id: string; status: string }) {
  return isLive(status) ? (
    <Empty title="No rows yet" height={320}>
      The first row appears after the first rollout, and then this page draws it by itself.
    </Empty>
  ) : (
    <Empty title="The run recorded nothing" height={320} command={`gymnast logs ${id}`}>
      It ended before its first rollout; its log says why.
    </Empty>
  );
}

interface CellProps {
  chart: ChartData;
  /** The section that starts with this chart. */
  section: ChartSection | undefined;
  view: ChartView;
  marks: ChartMark[];
  catalog: ReadonlyMap<string, MetricInfo>;
  xRange: readonly [number, number] | undefined;
  onZoom: (low: number | null, high: number | null) => void;
  onClose: () => void;
  id: string;
}

function Cell({ chart, section, view, marks, catalog, xRange, onZoom, onClose, id }: CellProps) {
  const help = metricFor(chart.series[0]?.key ?? "", catalog);
  return (
    <div class="run-cell" id={`chart-${chart.name}`}>
      <div class="run-section">
        {section && (
          <h2>
            <button type="button" aria-expanded="true" title={`Collapse ${section.name}`} onClick={onClose}>
              {section.name}
            </button>
          </h2>
        )}
        <a class="run-guide" href={guideHref(chart.family)} title="How to read this chart">
          guide
        </a>
      </div>
      <Lazily height={CELL_HEIGHT}>
        {() => (
          <MetricChart
            chart={chart}
            view={view}
            marks={marks}
            help={help}
            bounds={help?.bounds}
            xRange={xRange}
            onZoom={onZoom}
            link={`${runPath(id, "charts")}?${readable(viewParams(view))}#chart-${chart.name}`}
          />
        )}
      </Lazily>
    </div>
  );
}

/** Reads curves in a part of the x axis, with all the detail that fits. */
function readCurves(id: string, names: string[], x: Clock, range: readonly [number, number]) {
  const [low, high] = withMargin(range);
  return read("curves", { refs: [id], names, x, low, high, points: ZOOM_POINTS });
}

/** Returns the marks of a chart: its own alerts, and those that all charts share. */
function marksOf(chart: ChartData, shared: readonly ChartMark[], view: ChartView): ChartMark[] {
  const own = view.marks.has("alert") ? alertMarks(chart.alerts, chart.family) : [];
  return [...own, ...shared];
}

/** Returns parameters as a query; commas stay readable. */
function readable(params: URLSearchParams): string {
  return params.toString().replace(/%2C/g, ",");
}
