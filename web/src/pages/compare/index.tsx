/** Compare: many runs and groups of seeds on one axis, whether they differ by more than noise, and why they could. */
import "./compare.css";
import { useSignal } from "@preact/signals";
import { useCallback, useMemo } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import { useRuns } from "../../api/runs";
import { useActions } from "../../app/palette";
import { navigate, route } from "../../app/router";
import { useShortcut } from "../../app/shortcuts";
import { ErrorState, Loading } from "../../ui/states";
import { ChartGrid } from "./ChartGrid";
import { useHighlight } from "./highlight";
import { DEFAULT_CHARTS, defaultMetrics, EVALUATION_RETURN } from "./keys";
import { readKnownKeys, representatives } from "./known";
import { MetricPicker } from "./MetricPicker";
import { NothingChosen } from "./NothingChosen";
import { Results } from "./Results";
import { SidePanel } from "./SidePanel";
import { selectSides } from "./sides";
import { MANY_SIDES, sideStyles } from "./styles";
import { Toolbar } from "./Toolbar";
import { useZoom } from "./useZoom";
import { parseView, viewPath, type CompareView } from "./view";

export default function ComparePage() {
  const { params } = route.value;
  const view = useMemo(() => parseView(params), [params]);
  const list = useRuns();
  const runs = list.runs.value;
  const isPicking = useSignal(false);
  const hasChart = useSignal(false);

  const change = useCallback(
    (changes: Partial<CompareView>, options: { push?: boolean } = {}) => {
      const isStep = options.push === true || changes.refs !== undefined || changes.metrics !== undefined;
      navigate(viewPath({ ...parseView(route.peek().params), ...changes }), { replace: !isStep });
    },
    [],
  );
  // Sides depend on names and groups only, so a new row of a run in training does not make them again.
  const stamp = runs?.map((run) => `${run.id}/${run.name}/${run.group ?? ""}/${run.seed}`).join(" ");
  const { sides, unknown } = useMemo(
    () => selectSides(view.refs, runs ?? [], view.grouping),
    [view.refs.join("\n"), view.grouping, stamp],
  );
  const styles = useMemo(() => sideStyles(sides), [sides]);
  const highlight = useHighlight(sides.length <= MANY_SIDES);
  const chosen = useMemo(() => {
    const ids = new Set(sides.flatMap((side) => side.runs));
    return (runs ?? []).filter((run) => ids.has(run.id));
  }, [sides, runs]);
  const examples = representatives(chosen);
  const known = useQuery(examples.length > 0 ? `known-keys:${examples.join(" ")}` : "", () => readKnownKeys(examples));
  const catalogue = useQuery("metrics", () => read("metrics", {}));

  useZoom(view.zoom, (zoom) => {
    if (JSON.stringify(zoom) !== JSON.stringify(parseView(route.peek().params).zoom)) change({ zoom });
  });
  useShortcut("m", "Choose the metrics of the charts", () => (isPicking.value = true));
  useShortcut("l", "Logarithmic y axes", () => change({ log: !view.log }));
  useShortcut("z", "Show the whole range of the x axis", () => change({ zoom: null }));
  useActions(() => [
    { id: "compare metrics", label: "Choose the metrics of the charts", kind: "action", run: () => (isPicking.value = true) },
    { id: "compare log", label: "Logarithmic y axes", kind: "action", run: () => change({ log: !view.log }) },
  ]);

  if (!runs) return list.error.value ? <ErrorState error={list.error.value} /> : <Loading what="the runs" rows={12} />;
  if (sides.length === 0)
    return <NothingChosen runs={runs} unknown={unknown} onAdd={(ref) => change({ refs: [...view.refs, ref] })} />;

  const keys = known.data.value;
  const metrics = view.metrics.length > 0 ? withEvaluation(view.metrics) : defaultMetrics(keys ?? new Set());
  const baseline = sides.find((side) => side.ref === view.baseline)?.ref ?? sides[0]!.ref;
  // The data of many runs takes a while: that of the first chart must not wait for the others and the results.
  const isWanted = sides.length <= MANY_SIDES || hasChart.value;
  return (
    <div class="compare">
      <h1 class="visually-hidden">Compare</h1>
      <Toolbar view={view} sides={sides} baseline={baseline} onChange={change} onPickMetrics={() => (isPicking.value = true)} />
      {unknown.length > 0 && (
        <p class="compare-unknown warning" role="status">
          No run or group is called {unknown.join(", ")}.{" "}
          <button type="button" class="link-button" onClick={() => change({ refs: view.refs.filter((ref) => !unknown.includes(ref)) })}>
            Remove from the comparison
          </button>
        </p>
      )}
      <SidePanel
        sides={sides}
        runs={runs}
        view={view}
        baseline={baseline}
        highlighted={highlight.listed}
        styles={styles}
        onHighlight={highlight.onList}
        onChange={change}
      />
      <ChartGrid
        isWanted={isWanted}
        metrics={metrics}
        pending={view.metrics.length === 0 && !keys && !known.error.value ? DEFAULT_CHARTS - 1 : 0}
        known={keys ?? new Set()}
        catalogue={catalogue.data.value ?? []}
        sides={sides}
        runs={chosen}
        styles={styles}
        view={view}
        highlighted={highlight.drawn}
        onLoaded={() => (hasChart.value = true)}
        onHighlight={highlight.onChart}
        onChange={change}
      />
      <Results
        isWanted={isWanted}
        sides={sides}
        runs={chosen}
        x={view.x}
        baseline={baseline}
        styles={styles}
        highlighted={highlight.listed}
        onHighlight={highlight.onList}
      />
      {isPicking.value && (
        <MetricPicker
          known={keys ?? new Set([EVALUATION_RETURN])}
          catalogue={catalogue.data.value ?? []}
          chosen={metrics}
          onChange={(next) => change({ metrics: next })}
          onClose={() => (isPicking.value = false)}
        />
      )}
    </div>
  );
}

/** The evaluation return always comes first. */
function withEvaluation(metrics: readonly string[]): string[] {
  return [EVALUATION_RETURN, ...metrics.filter((key) => key !== EVALUATION_RETURN)];
}
