/** One study: its progress, its best trial, all plots, and its trials with links to their runs. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { PlottedTrial, StudyPlots } from "../../api/types";
import { LineChart, type LineSeries } from "../../chart/LineChart";
import { Link } from "../../app/router";
import { ErrorState, Loading } from "../../ui/states";
import { useRefresh } from "../compare/live";
import { BestTrialPanel } from "./BestTrialPanel";
import { GROUP_NAMES, type Group } from "./geometry";
import { Importance } from "./Importance";
import { ParallelCoordinates } from "./ParallelCoordinates";
import { mayChange, progressOf, REFRESH } from "./study";
import { StudyHead } from "./StudyHead";
import { Trials } from "./Trials";
import { TrialMark } from "./TrialMark";
import { TrialScatter } from "./TrialScatter";

export function StudyView({ study }: { study: string }) {
  const status = useQuery(`sweep_status:${study}`, () => read("sweep_status", { study }));
  const plots = useQuery(`sweep_plots:${study}`, () => read("sweep_plots", { study }));
  const pointed = useSignal<number | null>(null);
  const picked = useSignal<number | null>(null);
  const data = status.data.value;
  const hasBest = data !== undefined && data.summary.best !== null;
  const best = useQuery(hasBest ? `sweep_best:${study}` : "", () => read("sweep_best", { study }));
  const isLive = data !== undefined && mayChange(data.summary);
  useEffect(() => {
    if (!isLive) return undefined;
    const timer = setInterval(status.refresh, REFRESH);
    return () => clearInterval(timer);
  }, [isLive]);
  const refreshResults = () => {
    plots.refresh();
    best.refresh();
  };
  useRefresh(data ? progressOf(data.summary) : "", refreshResults, REFRESH);
  if (!data) {
    if (!status.error.value) return <Loading what="the study" height={700} />;
    return (
      <div>
        <ErrorState error={status.error.value} retry={status.refresh} />
        <p class="sweeps-back">
          <Link to="/sweeps">All studies</Link>
        </p>
      </div>
    );
  }
  const pick = (trial: number) => (picked.value = trial);
  return (
    <div class="sweeps">
      <StudyHead summary={data.summary} objective={data.objective} onChanged={status.refresh} />
      <BestTrialPanel best={best.data.value} />
      {plots.data.value ? (
        <Plots plots={plots.data.value} pointed={pointed} onPick={pick} />
      ) : plots.error.value ? (
        <ErrorState error={plots.error.value} retry={plots.refresh} height={400} />
      ) : (
        <Loading what="the plots" height={600} />
      )}
      <Trials status={data} pointed={pointed} picked={picked.value} />
    </div>
  );
}

interface PlotsProps {
  plots: StudyPlots;
  pointed: { value: number | null } & Parameters<typeof TrialScatter>[0]["pointed"];
  onPick: (trial: number) => void;
}

function Plots({ plots, pointed, onPick }: PlotsProps) {
  const { trials, best, parameters, objective } = plots;
  const last = Math.max(trials.length - 1, 1);
  const shared = { trials, best, pointed, onPick };
  const numbers = historyTicks(last);
  return (
    <section class="sweeps-plots" aria-label="Plots">
      <h2 class="visually-hidden">Plots</h2>
      <div class="sweeps-half">
        <TrialScatter
          {...shared}
          title="History"
          place={(trial) => trial.number / last}
          ticks={numbers.map(String)}
          tickPlaces={numbers.map((number) => number / last)}
          xLabel={`trial (y: ${objective})`}
          isHistory
          height={210}
        />
        <Legend trials={trials} best={best} />
      </div>
      <div class="sweeps-half">
        <LineChart
          title="Learning curves"
          unit="return"
          note={plots.curves.length === 0 ? "no trial is complete yet" : "of evaluations, with the 95 % band over seeds"}
          xLabel="env steps"
          series={curveSeries(plots)}
          height={210}
        />
      </div>
      <div class="sweeps-wide">
        <ParallelCoordinates plots={plots} pointed={pointed} onPick={onPick} />
      </div>
      <div class="sweeps-third">
        <Importance importance={plots.importance} note={plots.note} />
      </div>
      {parameters.map((parameter, i) => (
        <div key={parameter.name} class="sweeps-slice">
          <TrialScatter
            {...shared}
            title={parameter.name}
            place={(trial) => trial.positions[i] ?? null}
            ticks={parameter.ticks}
            tickPlaces={parameter.positions}
            xLabel={parameter.name}
            height={170}
          />
        </div>
      ))}
    </section>
  );
}

/** Returns about five numbers of trials, from the first to the last. */
function historyTicks(last: number): number[] {
  const step = Math.max(1, Math.round(last / 5));
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}

function curveSeries(plots: StudyPlots): LineSeries[] {
  return plots.curves.map(({ label, is_baseline, is_confirmed, seeds, curve }) => ({
    key: label,
    label: `${label}, ${seeds} ${is_confirmed ? "fresh " : ""}${seeds === 1 ? "seed" : "seeds"}`,
    color: is_baseline ? "var(--series-7)" : "var(--series-1)",
    ...(is_baseline ? { dash: [6, 3] } : {}),
    x: curve.x,
    y: curve.y,
    low: curve.low,
    high: curve.high,
    exact: true,
  }));
}

function Legend({ trials, best }: { trials: readonly PlottedTrial[]; best: number | null }) {
  const groups: Group[] = ["complete", "waiting", "failed", "baseline", "best"];
  const has = (group: Group) =>
    trials.some((trial) => (group === "best" ? trial.number === best : group === "baseline" ? trial.is_baseline : trial.state === group));
  return (
    <ul class="legend" aria-label="Legend">
      {groups.filter(has).map((group) => (
        <li key={group}>
          <svg width="12" height="12" aria-hidden="true">
            <TrialMark group={group} x={6} y={6} />
          </svg>{" "}
          <span class="small">{GROUP_NAMES[group]}</span>
        </li>
      ))}
    </ul>
  );
}
