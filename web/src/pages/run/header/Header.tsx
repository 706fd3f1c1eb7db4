/** The header of a run: what it is, how far it is, how good, why it stopped, and what can be done with it. */
import type { JobStatus, RunSummary } from "../../../api/types";
import { Link, runPath } from "../../../app/router";
import { CopyButton } from "../../../ui/CopyButton";
import { formatCount, formatDuration, formatInterval, formatNumber, fullPrecision } from "../../../ui/numbers";
import { Tooltip } from "../../../ui/Tooltip";
import type { RunModel } from "../model";
import { counted, timeText } from "../parts/text";
import { ActionBar } from "./ActionBar";
import { isLive } from "./actions";
import { Labels } from "./Labels";
import { explainStatus } from "./states";
import { verdictOf } from "./verdict";

export function Header({ model }: { model: RunModel }) {
  const run = model.summary.value;
  if (!run) return <header class="run-header" aria-busy="true" />;
  return (
    <header class="run-header">
      <div class="run-title">
        <StatusBadge status={run.status} />
        <h1 class="ellipsis" title={run.name || run.id}>
          {run.name || run.id}
        </h1>
        <span class="run-id">
          <code>{run.id}</code>
          <CopyButton text={run.id} />
        </span>
        <Identity run={run} />
        <ActionBar model={model} run={run} />
      </div>
      <div class="run-facts">
        <Progress run={run} />
        <Score run={run} />
        <Alerts run={run} />
        <Labels model={model} run={run} />
      </div>
      <State run={run} job={model.resuming.value} attempts={model.details.value?.attempts ?? 1} />
    </header>
  );
}

export function StatusBadge({ status }: { status: string }) {
  return (
    <span class="run-status" data-status={status}>
      {status}
    </span>
  );
}

function Identity({ run }: { run: RunSummary }) {
  return (
    <span class="run-identity">
      <span title="environment and variant">{run.preset}</span>
      <span title="algorithm">{run.algo}</span>
      {run.seed !== null && <span title="root seed of all randomness">seed {run.seed}</span>}
      {run.group && (
        <Link to={`/?q=${encodeURIComponent(`group=${run.group}`)}`} title="its group of seeds">
          group {run.group_name || run.group}
        </Link>
      )}
      {run.score?.role && (
        <Link to={`/selfplay/${encodeURIComponent(run.id)}`} title="ratings, cross-play matrix, outcomes">
          self-play
        </Link>
      )}
      {run.parent && (
        <Link to={runPath(run.parent)} title="the run whose weights it started from">
          from {run.parent}
        </Link>
      )}
    </span>
  );
}

function Progress({ run }: { run: RunSummary }) {
  const share = run.progress ?? null;
  const live = isLive(run.status);
  const steps = run.clocks["env_steps"];
  return (
    <span class="run-progress">
      {share !== null && (
        <>
          <progress max={1} value={share} aria-label="share of the budget" />
          <span class="num run-share" title={fullPrecision(share)}>
            {Math.floor(share * 100)} %
          </span>
        </>
      )}
      <span class="num run-steps" title="env steps, summed over all copies of the environment">
        {formatCount(steps)} <span class="unit">env steps</span>
      </span>
      <span class="num run-time" title="wall time spent training">
        {formatDuration(run.clocks["seconds"])}
      </span>
      {live && (
        <span class="num run-remaining" title="remaining time, at the average speed so far">
          {run.remaining_seconds === null || run.remaining_seconds === undefined ? "" : `${formatDuration(run.remaining_seconds)} left`}
        </span>
      )}
      {live && (
        <span class="num run-speed" title="env steps per second">
          {run.steps_per_second ? (
            <>
              {formatCount(run.steps_per_second)} <span class="unit">/s</span>
            </>
          ) : (
            ""
          )}
        </span>
      )}
    </span>
  );
}

function Score({ run }: { run: RunSummary }) {
  const { score, threshold } = run;
  const verdict = verdictOf(run);
  if (!score) return <span class="run-score muted">not evaluated yet</span>;
  const about = (
    <dl class="run-score-help">
      <dt>mean</dt>
      <dd>{fullPrecision(score.mean)}</dd>
      <dt>95 % interval</dt>
      <dd>
        {fullPrecision(score.low)} to {fullPrecision(score.high)}
      </dd>
      <dt>episodes</dt>
      <dd>{score.planned === null ? score.episodes : `${score.episodes} of ${score.planned}, because ${score.missing}`}</dd>
      {score.iqm !== null && <dt>IQM</dt>}
      {score.iqm !== null && <dd>{fullPrecision(score.iqm)}</dd>}
      {score.env_steps !== null && <dt>policy after</dt>}
      {score.env_steps !== null && <dd>{formatCount(score.env_steps)} env steps</dd>}
      <dt>seeds</dt>
      <dd>{run.confirmed ? "held out, after training" : "those of the evaluations during training"}</dd>
      {run.start_score !== null && <dt>at the start</dt>}
      {run.start_score !== null && <dd>{fullPrecision(run.start_score.mean)}</dd>}
    </dl>
  );
  return (
    <span class="run-score">
      <Tooltip content={about} focusable>
        <span class="num">
          {score.role && <span class="unit">{score.role} </span>}
          <strong>{formatNumber(score.mean)}</strong>
          {formatInterval(score.mean, score.low, score.high).slice(formatNumber(score.mean).length)}
        </span>
      </Tooltip>
      {score.caveat && verdict !== "not confirmed" && <span class="badge warning">{score.caveat}</span>}
      {threshold !== null && (
        <span class="num muted" title={`threshold ${fullPrecision(threshold)}`}>
          {score.low >= threshold ? "≥" : score.mean >= threshold ? "~" : "<"} {formatNumber(threshold)}
        </span>
      )}
      {verdict && (
        <span class={`badge ${verdict === "solved" ? "good" : verdict === "not solved" ? "" : "warning"}`} title={run.doubts.join("; ")}>
          {verdict}
        </span>
      )}
    </span>
  );
}

function Alerts({ run }: { run: RunSummary }) {
  if (!run.n_alerts) return <span class="run-no-alerts">no alerts</span>;
  return (
    <Link class="run-alerts" to={runPath(run.id, "diagnosis")} title="alerts with advice">
      ▲ {counted(run.n_alerts, "alert")}
    </Link>
  );
}

interface StateProps {
  run: RunSummary;
  /** A job that is to resume the run. */
  job: JobStatus | undefined;
  attempts: number;
}

function State({ run, job, attempts }: StateProps) {
  const state = explainStatus({ ...run, ...(job && !isLive(run.status) ? resumeFacts(job) : {}), latestStep: run.latest_step });
  const text = state.text || `Training since ${timeText(run.created)}${attempts > 1 ? `, attempt ${attempts}` : ""}.`;
  return (
    <p class={`run-state ${state.level}`} role={state.level === "error" ? "alert" : undefined}>
      <span>{text}</span>
      {state.commands.slice(0, 1).map((command) => (
        <span class="run-command" key={command}>
          <code>{command}</code>
          <CopyButton text={command} />
        </span>
      ))}
    </p>
  );
}

/** Returns what the header says about a job that resumes the run instead of how the run ended before. */
function resumeFacts(job: JobStatus): Pick<RunSummary, "status" | "reason"> {
  return { status: job.status, reason: job.status === "failed" ? `it could not be resumed: ${job.reason}` : job.reason };
}
