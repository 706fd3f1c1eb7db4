/** The name of a study, how far it is, and the buttons that stop and continue it. */
import { send } from "../../api/client";
import type { SweepSummary } from "../../api/types";
import { Link } from "../../app/router";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { formatCount, formatDuration } from "../../ui/numbers";
import { ErrorLine } from "../../ui/states";
import { toast } from "../../ui/toast";
import { useAction } from "../../ui/useAction";
import { isActive, progressText } from "./study";

interface Props {
  summary: SweepSummary;
  objective: string;
  /** Called after the study was stopped or resumed. */
  onChanged: () => void;
}

export function StudyHead({ summary, objective, onChanged }: Props) {
  const action = useAction();
  const { name, status, planned_env_steps: planned, env_steps: done } = summary;
  const change = (verb: "stopped" | "resumed") =>
    action.run(async () => {
      await (verb === "stopped" ? send("sweep_stop", { study: name }) : send("sweep_resume", { study: name }));
      toast(`The study ${name} was ${verb}.`);
      onChanged();
    });
  const share = planned > 0 ? Math.min(done / planned, 1) : 0;
  return (
    <header class="sweeps-head">
      <h1>
        <Link to="/sweeps" aria-label="All studies">
          Sweeps
        </Link>{" "}
        / {name}
      </h1>
      <span class={`status-cell ${status}`} title={summary.reason}>
        <span class="status-dot" aria-hidden="true" />
        {status}
      </span>
      <span class="muted">
        <Link to={`/new?target=${encodeURIComponent(summary.target)}`}>{summary.target}</Link> · {summary.mode === "pbt" ? "population-based training" : summary.sampler} · {objective}
      </span>
      <span class="num">
        {progressText(summary)} <span class="muted">trials</span> {formatCount(done)} <span class="muted">of about {formatCount(planned)} env steps,</span>{" "}
        {formatDuration(summary.seconds)}
      </span>
      {summary.reason && <span class="muted sweeps-reason">{summary.reason}</span>}
      <progress max={1} value={status === "finished" ? 1 : share} aria-label="Progress of the search" />
      <span class="toolbar-space" />
      {isActive(summary) ? (
        <Button disabledReason={readOnlyReason.value} busy={action.busy.value} onClick={() => void change("stopped")}>
          Stop
        </Button>
      ) : (
        status === "interrupted" && (
          <Button kind="primary" disabledReason={readOnlyReason.value} busy={action.busy.value} onClick={() => void change("resumed")}>
            Resume
          </Button>
        )
      )}
      <CopyButton text={`gymnast sweep status ${name}`} label="Copy as CLI command" />
      <ErrorLine error={action.error.value} />
    </header>
  );
}
