/** Starts a study: the space of an environment, which can be edited, and how much it may take. */
import { useSignal } from "@preact/signals";
import { read, send } from "../../api/client";
import type { SweepPlan } from "../../api/types";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { formatCount, formatDuration, formatSize } from "../../ui/numbers";
import { ErrorLine } from "../../ui/states";
import { useAction } from "../../ui/useAction";

interface Props {
  onClose: () => void;
  onStarted: (name: string) => void;
}

export function StartDialog({ onClose, onStarted }: Props) {
  const target = useSignal("CartPole-v1");
  const space = useSignal("");
  const trials = useSignal("20");
  const minutes = useSignal("");
  const jobs = useSignal("1");
  const plan = useSignal<SweepPlan | null>(null);
  const action = useAction();
  const request = () => ({
    space: `${space.value.trimEnd()}\n`,
    trials: Number(trials.value) || null,
    minutes: Number(minutes.value) || null,
    jobs: Number(jobs.value) || 1,
  });
  const load = () =>
    action.run(async () => {
      plan.value = null;
      space.value = (await read("sweep_init", { target: target.value.trim() })).text;
    });
  const check = () =>
    action.run(async () => {
      plan.value = null;
      plan.value = await send("sweep_plan", request());
    });
  const start = () => action.run(async () => onStarted((await send("sweep_start", request())).name));
  const missing = space.value.trim() ? "" : "Load the space of an environment first.";
  const change = (write: () => void) => {
    write();
    plan.value = null;
  };
  return (
    <Dialog
      title="Start a study"
      onClose={onClose}
      className="sweeps-start"
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button onClick={() => void check()} busy={action.busy.value} disabledReason={missing}>
            Estimate
          </Button>
          <Button kind="primary" onClick={() => void start()} busy={action.busy.value} disabledReason={missing}>
            Start
          </Button>
        </>
      }
    >
      <div class="sweeps-fields">
        <label>
          Environment
          <input autofocus value={target.value} onInput={(event) => (target.value = event.currentTarget.value)} />
        </label>
        <Button onClick={() => void load()} busy={action.busy.value}>
          Load its space
        </Button>
        <label>
          Trials
          <input inputMode="numeric" value={trials.value} onInput={(event) => change(() => (trials.value = event.currentTarget.value))} />
        </label>
        <label>
          Minutes
          <input inputMode="numeric" placeholder="no limit" value={minutes.value} onInput={(event) => change(() => (minutes.value = event.currentTarget.value))} />
        </label>
        <label>
          At once
          <input inputMode="numeric" value={jobs.value} onInput={(event) => change(() => (jobs.value = event.currentTarget.value))} />
        </label>
      </div>
      <label class="sweeps-space">
        Search space
        <textarea
          spellcheck={false}
          rows={16}
          placeholder="The space of the environment, in YAML"
          value={space.value}
          onInput={(event) => change(() => (space.value = event.currentTarget.value))}
        />
      </label>
      {plan.value && <p role="status">{planText(plan.value)}</p>}
      {action.busy.value && <p role="status">A moment of training measures the speed…</p>}
      <ErrorLine error={action.error.value} />
    </Dialog>
  );
}

function planText(plan: SweepPlan): string {
  const total = plan.env_steps + plan.confirm_env_steps;
  const parts = [
    `${plan.trials} trials of ${plan.target} over ${plan.parameters.length} parameters`,
    `about ${formatCount(total)} env steps`,
    formatDuration(60 * plan.minutes),
    `${formatSize(plan.bytes)} on disk`,
  ];
  return [`${parts.join(", ")}.`, ...plan.warnings].join(" ");
}
