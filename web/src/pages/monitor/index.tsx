/** Monitor: runs of one environment by approach, checked before anything is drawn: an overview, the approaches on a common
 * axis, and the charts of each run. */
import "./monitor.css";
import { useCallback, useEffect, useMemo } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import { useRuns } from "../../api/runs";
import type { MonitorReport } from "../../api/types";
import { navigate, route } from "../../app/router";
import { colorsOf } from "../../chart/colors";
import { resetZoom } from "../../chart/sync";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { toastError } from "../../ui/toast";
import { useIsNarrow } from "../../ui/useIsNarrow";
import { progressStamp, useRefresh } from "../compare/live";
import { counted } from "../run/parts/text";
import { NoRuns } from "../runs/EmptyRuns";
import { Charts } from "./Charts";
import { chooseRuns, MAX_RUNS, monitorCommand, waitingRuns } from "./choice";
import { ChoicePanel } from "./ChoicePanel";
import { saveOverview } from "./csv";
import { OverviewTable } from "./OverviewTable";
import { SYNC } from "./PanelView";
import { SchemaError, SkippedRuns } from "./Problems";
import { Toolbar } from "./Toolbar";
import { parseView, viewPath, type MonitorView } from "./view";

const REFRESH_PAUSE = 20_000;

export default function MonitorPage() {
  const { params } = route.value;
  const view = useMemo(() => parseView(params), [params]);
  const list = useRuns();
  const runs = list.runs.value;
  const isNarrow = useIsNarrow();
  const change = useCallback((changes: Partial<MonitorView>) => {
    const isStep = ["env", "approaches", "runs"].some((name) => name in changes);
    navigate(viewPath({ ...parseView(route.peek().params), ...changes }), { replace: !isStep });
  }, []);
  const choice = useMemo(() => chooseRuns(runs ?? [], view), [runs, view]);
  // Another environment has other env steps.
  useEffect(() => resetZoom(SYNC), [choice.env]);
  const request = { refs: choice.chosen.map((run) => run.id), smooth: view.smooth, skip_broken: view.skipBroken };
  const key = choice.chosen.length ? `monitor:${JSON.stringify(request)}` : "";
  const query = useQuery(key, async () => ({ key, report: await read("monitor", request) }));
  useRefresh(progressStamp(choice.chosen), query.refresh, REFRESH_PAUSE);
  const known = useMemo(() => new Set(runs?.map((run) => run.id)), [runs?.map((run) => run.id).join()]);

  if (!runs) return list.error.value ? <ErrorState error={list.error.value} /> : <Loading what="the runs" rows={24} />;
  if (runs.length === 0) return <NoRuns />;
  const loaded = query.data.value;
  const error = query.error.value;
  const isBroken = error !== undefined && (error.code !== "offline" || !loaded);
  const panel = <ChoicePanel choice={choice} view={view} onChange={change} />;
  const waiting = waitingRuns(runs, choice.env);
  return (
    <div class="monitor">
      {!isNarrow && (
        <aside class="filter-panel" aria-label="Runs">
          {panel}
        </aside>
      )}
      <div class="monitor-main" aria-busy={key !== "" && !isBroken && loaded?.key !== key ? true : undefined}>
        <Toolbar
          view={view}
          env={choice.env}
          report={isBroken ? undefined : loaded?.report}
          command={monitorCommand(runs, choice, view)}
          panel={isNarrow ? panel : null}
          onChange={change}
          onDownload={() => void saveOverview({ refs: request.refs, skip_broken: view.skipBroken }).catch(toastError)}
        />
        {choice.unknown.length > 0 && (
          <p class="warning" role="status">
            {choice.env} has no approach or run {choice.unknown.join(", ")}.
          </p>
        )}
        {choice.leftOut > 0 && (
          <p class="warning" role="status">
            Only the newest {MAX_RUNS} runs are shown, without {counted(choice.leftOut, "older one")}. Choose approaches or runs to see others.
          </p>
        )}
        {waiting.length > 0 && <p class="muted small">Without rows, and so not shown: {waiting.map((run) => run.name || run.id).join(", ")}.</p>}
        {choice.chosen.length === 0 ? (
          <Empty title={`No run of ${choice.env} has rows yet`} command="gymnast train tag:selfplay">
            Runs appear here after their first rollout.
          </Empty>
        ) : isBroken ? (
          <SchemaError error={error} runs={runs} onSkip={view.skipBroken ? undefined : () => change({ skipBroken: true })} onRetry={query.refresh} />
        ) : loaded ? (
          <Report report={loaded.report} known={known} view={view} onChange={change}>
            <SkippedRuns skipped={loaded.report.skipped} runs={runs} onStrict={() => change({ skipBroken: false })} />
          </Report>
        ) : (
          <Loading what="the monitor" rows={24} />
        )}
      </div>
    </div>
  );
}

interface ReportProps {
  report: MonitorReport;
  known: ReadonlySet<string>;
  view: MonitorView;
  onChange: (changes: Partial<MonitorView>) => void;
  children: preact.ComponentChildren;
}

function Report({ report, known, view, onChange, children }: ReportProps) {
  const approaches = useMemo(() => colorsOf(report.approaches), [report.approaches.join("\n")]);
  return (
    <>
      {children}
      <OverviewTable rows={report.overview} inks={approaches} known={known} sort={view.sort} onSort={(sort) => onChange({ sort })} />
      <Charts report={report} approaches={approaches} view={view} onChange={onChange} />
    </>
  );
}
