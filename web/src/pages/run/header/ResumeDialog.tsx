/** Continues a run from one of its checkpoints, with other settings or a larger budget. */
import { useSignal } from "@preact/signals";
import { send } from "../../../api/client";
import type { Arguments, RunSummary } from "../../../api/types";
import { navigate, runPath } from "../../../app/router";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Dialog } from "../../../ui/Dialog";
import { formatCount } from "../../../ui/numbers";
import { ErrorLine } from "../../../ui/states";
import { toast } from "../../../ui/toast";
import { useAction } from "../../../ui/useAction";
import type { RunModel } from "../model";
import { isLive, resumableSteps } from "./actions";
import { parseLines, resumeOverrides } from "./assignments";
import { resumeCommand } from "./commands";

interface Props {
  model: RunModel;
  run: RunSummary;
  checkpoints: readonly number[];
  /** The checkpoint that is chosen at first; the latest one if undefined. */
  at?: string;
  onClose: () => void;
}

export function ResumeDialog({ model, run, checkpoints, at: first, onClose }: Props) {
  const live = isLive(run.status);
  const steps = resumableSteps(run.status, checkpoints);
  const at = useSignal(first ?? (live ? String(steps.at(-1) ?? "") : "latest"));
  const settings = useSignal("");
  const budget = useSignal("");
  const name = useSignal("");
  const fresh = useSignal(false);
  const action = useAction();

  const chosen = at.value === "best" ? run.best_step : at.value === "latest" ? run.latest_step : Number(at.value);
  const branches = at.value !== "latest" && chosen !== checkpoints.at(-1);
  const { wrong } = parseLines(settings.value);
  const overrides = resumeOverrides(settings.value, budget.value);
  const args: Arguments["resume"] = {
    run: run.id,
    ...(at.value === "latest" ? {} : { at: at.value }),
    ...(overrides.length ? { overrides } : {}),
    ...(fresh.value ? { fresh_optimizer: true } : {}),
    ...(branches && name.value.trim() ? { name: name.value.trim() } : {}),
  };
  const resume = async () => {
    const started = await send("resume", args);
    toast(started.status === "queued" ? `${started.id} waits in the queue.` : `${started.id} starts.`);
    onClose();
    if (started.id === run.id) void model.followResume();
    else navigate(runPath(started.id));
  };
  return (
    <Dialog
      title={`Resume ${run.name || run.id}`}
      onClose={onClose}
      className="run-dialog"
      actions={
        <>
          <CopyButton label="Copy as CLI command" text={resumeCommand(args)} />
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={action.busy.value}
            disabledReason={wrong.length ? `Not KEY=VALUE: ${wrong[0]}` : undefined}
            onClick={() => void action.run(resume)}
          >
            {branches ? "Branch off" : "Resume"}
          </Button>
        </>
      }
    >
      <div class="run-form">
        <label for="resume-at">Checkpoint</label>
        <select id="resume-at" value={at.value} onChange={(event) => (at.value = event.currentTarget.value)}>
          {!live && <option value="latest">latest{stepText(run.latest_step)}</option>}
          {run.best_step !== null && (!live || run.best_step !== checkpoints.at(-1)) && (
            <option value="best">best{stepText(run.best_step)}</option>
          )}
          {steps.map((step) => (
            <option key={step} value={String(step)}>
              {formatCount(step)} env steps
            </option>
          ))}
        </select>
        <label for="resume-budget">New total budget</label>
        <input
          id="resume-budget"
          placeholder="env steps, such as 200k; empty: as before"
          value={budget.value}
          onInput={(event) => (budget.value = event.currentTarget.value)}
        />
        <label for="resume-settings">Settings</label>
        <textarea
          id="resume-settings"
          rows={3}
          placeholder={"algo.lr=1e-4\nKEY=VALUE, one per line"}
          spellcheck={false}
          value={settings.value}
          onInput={(event) => (settings.value = event.currentTarget.value)}
        />
        {branches && <label for="resume-name">Name of the branch</label>}
        {branches && (
          <input id="resume-name" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        )}
        <label for="resume-fresh">Optimizer</label>
        <label>
          <input
            id="resume-fresh"
            type="checkbox"
            checked={fresh.value}
            onChange={(event) => (fresh.value = event.currentTarget.checked)}
          />{" "}
          discard its state
        </label>
      </div>
      <p class="muted">
        {branches
          ? "This is not the newest checkpoint: a new run branches off there, and this run is not changed."
          : "The run continues exactly there. Rows after this checkpoint are computed again."}
      </p>
      <ErrorLine error={action.error.value} />
    </Dialog>
  );
}

function stepText(step: number | null): string {
  return step === null ? "" : ` (${formatCount(step)} env steps)`;
}
