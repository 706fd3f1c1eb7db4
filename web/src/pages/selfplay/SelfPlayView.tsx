/** The charts and tables of one run with roles. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import { useRuns } from "../../api/runs";
import type { CrossPlayReport, SelfPlay } from "../../api/types";
import { ClockPicker } from "../../chart/controls";
import { defaultClock } from "../../app/session";
import { Link, route, runPath, setParams } from "../../app/router";
import { HistogramChart } from "../../chart/HistogramChart";
import { LineChart } from "../../chart/LineChart";
import { StackedChart } from "../../chart/StackedChart";
import { CopyButton } from "../../ui/CopyButton";
import { clockLabel, formatInterval } from "../../ui/numbers";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { progressStamp, useRefresh } from "../compare/live";
import { CrossPlay } from "./CrossPlay";
import { durationSeries, outcomeCharts, ratingLines, winCharts } from "./curves";
import { Players } from "./Players";

const REFRESH_PAUSE = 5_000;
const HEIGHT = 170;
const SHARES: [number, number] = [0, 1];
const EVEN = [{ y: 0.5, label: "even" }];
/** Scripted opponent with a fixed rating. */
const ANCHOR = [{ y: 1000, label: "medium" }];

export function SelfPlayView({ run }: { run: string }) {
  const x = route.value.params.get("x") || defaultClock();
  const list = useRuns();
  const summary = list.runs.value?.find((one) => one.id === run || one.name === run);
  // A score that is about no role shows that there are none; then there is nothing to ask for.
  const hasRoles = summary?.score ? summary.score.role !== "" : true;
  const isWanted = hasRoles && (list.runs.value !== undefined || list.error.value !== undefined);
  const query = useQuery(isWanted ? `self_play:${run}:${x}` : "", () => read("self_play", { ref: run, x }));
  useRefresh(summary ? progressStamp([summary]) : "", query.refresh, REFRESH_PAUSE);
  if (!hasRoles) return <NoRoles run={run} />;
  const data = query.data.value;
  if (!data) return query.error.value ? <NoData run={run} error={query.error.value} /> : <Loading what="the matches" height={600} />;
  if (data.roles.length === 0) return <NoRoles run={run} />;
  return (
    <div class="selfplay">
      <header class="selfplay-head">
        <h1>
          <Link to={runPath(data.run)}>{summary?.name || data.run}</Link>
        </h1>
        {summary && (
          <span class="muted">
            {summary.preset} · {summary.status}
            {summary.score && ` · win rate of ${summary.score.role} ${formatInterval(summary.score.mean, summary.score.low, summary.score.high)}`}
          </span>
        )}
        <span class="toolbar-space" />
        <ClockPicker value={x} onChange={(clock) => setParams({ x: clock })} />
        <CopyButton text={`gymnast league ${data.run}`} label="Copy as CLI command" />
      </header>
      <Charts data={data} />
      <Matches data={data} />
    </div>
  );
}

function Charts({ data }: { data: SelfPlay }) {
  const { roles } = data;
  const xLabel = clockLabel(data.x);
  return (
    <section class="selfplay-charts" aria-label="Charts">
      <h2 class="visually-hidden">Charts</h2>
      <LineChart
        title="Rating"
        unit="Elo points"
        note="with 95 % interval"
        xLabel={xLabel}
        series={ratingLines(data.ratings, roles)}
        lines={ANCHOR}
        digits={0}
        sync="selfplay"
        height={HEIGHT}
      />
      {winCharts(data.win_rates).map(({ role, series }) => (
        <LineChart
          key={`wins ${role}`}
          title={`Win rate of ${role}`}
          unit="share"
          digits={1}
          xLabel={xLabel}
          series={series}
          range={SHARES}
          lines={EVEN}
          sync="selfplay"
          height={HEIGHT}
        />
      ))}
      {outcomeCharts(data.outcomes).map(({ role, series }) => (
        <StackedChart
          key={`outcomes ${role}`}
          title={role ? `Outcomes, evaluation of ${role}` : "Outcomes, training"}
          xLabel={xLabel}
          series={series}
          sync="selfplay"
          height={HEIGHT}
        />
      ))}
      <HistogramChart
        title="Match length"
        unit="steps"
        xLabel="steps"
        yLabel="matches"
        note={data.durations.length === 0 ? "no stored match yet" : undefined}
        series={durationSeries(data.durations, roles)}
        height={HEIGHT}
      />
    </section>
  );
}

function Matches({ data }: { data: SelfPlay }) {
  const played = useSignal<CrossPlayReport | null>(null);
  // A newer record of the run is newer than what this page played before.
  useEffect(() => {
    played.value = null;
  }, [data.matrix]);
  return (
    <div class="selfplay-matches">
      <CrossPlay run={data.run} matrix={played.value ?? data.matrix} onPlayed={(matrix) => (played.value = matrix)} />
      <section class="selfplay-players" aria-label="Ratings">
        <h2>Players</h2>
        <Players players={data.players.entrants} roles={data.roles} />
      </section>
    </div>
  );
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function NoRoles({ run, message = `Run ${run} has no roles` }: { run: string; message?: string }) {
  return (
    <>
      <h1 class="visually-hidden">Self-play of {run}</h1>
      <Empty title={message} command="gymnast train tag:selfplay">
        <p>
          Ratings, outcomes and cross-play need an environment in which several roles play against each other.{" "}
          <Link to={runPath(run)}>Back to the run</Link>, or <Link to="/selfplay">choose another one</Link>.
        </p>
      </Empty>
    </>
  );
}

function NoData({ run, error }: { run: string; error: Parameters<typeof ErrorState>[0]["error"] }) {
  // The server explains why there is nothing to show; that is no failure of the page.
  if (error.code === "usage") return <NoRoles run={run} message={sentence(error.message)} />;
  return (
    <div>
      <ErrorState error={error} />
      <p class="selfplay-back">
        <Link to={runPath(run)}>Back to the run</Link> · <Link to="/selfplay">Runs with roles</Link>
      </p>
    </div>
  );
}
