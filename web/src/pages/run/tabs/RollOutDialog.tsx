/** Plays a fresh episode with a checkpoint of the run, and opens it. */
import { useSignal } from "@preact/signals";
import { commandText } from "../../../api/command";
import type { Arguments, RunDetails } from "../../../api/types";
import { navigate } from "../../../app/router";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Dialog } from "../../../ui/Dialog";
import { formatCount } from "../../../ui/numbers";
import { episodePath } from "../../episode/address";
import { parseLines } from "../header/assignments";
import { TaskBox } from "../parts/TaskBox";
import { useTask } from "../parts/useTask";

interface Props {
  details: RunDetails;
  onClose: () => void;
}

export function RollOutDialog({ details, onClose }: Props) {
  const at = useSignal(details.best_step === null ? "latest" : "best");
  const seed = useSignal("");
  const isSampled = useSignal(false);
  const steps = useSignal("");
  const settings = useSignal("");
  const task = useTask("roll_out");
  const { running } = task.state.value;
  const { assignments, wrong } = parseLines(settings.value);
  const ref = `${details.id}:${at.value}`;
  const args: Arguments["roll_out"] = {
    ref,
    ...(seed.value.trim() ? { seed: Number(seed.value) } : {}),
    ...(isSampled.value ? { sampled: true } : {}),
    ...(steps.value.trim() ? { max_steps: Number(steps.value) } : {}),
    ...(assignments.length ? { overrides: assignments } : {}),
  };
  const problem = wrong.length ? `Not KEY=VALUE: ${wrong[0]}` : notWhole("seed", seed.value) || notWhole("number of steps", steps.value);
  const close = () => {
    task.cancel();
    onClose();
  };
  const rollOut = async () => {
    const episode = await task.start(args, "Rolling out");
    if (!episode) return;
    onClose();
    navigate(episodePath({ run: details.id, ...episode }));
  };
  return (
    <Dialog
      title="Roll out a fresh episode"
      onClose={close}
      className="run-dialog"
      actions={
        <>
          <CopyButton
            label="Copy as CLI command"
            text={commandText({
              command: "rollout",
              words: [ref],
              options: { seed: args.seed, sample: args.sampled, steps: args.max_steps, set: assignments },
            })}
          />
          <Button onClick={running ? task.cancel : onClose}>Cancel</Button>
          <Button kind="primary" busy={running} disabledReason={problem || undefined} onClick={() => void rollOut()}>
            Roll out
          </Button>
        </>
      }
    >
      <div class="run-form">
        <label for="rollout-at">Checkpoint</label>
        <select id="rollout-at" value={at.value} onChange={(event) => (at.value = event.currentTarget.value)}>
          {details.best_step !== null && <option value="best">best ({formatCount(details.best_step)} env steps)</option>}
          <option value="latest">latest</option>
          {details.checkpoints.steps.map((step) => (
            <option key={step} value={String(step)}>
              {formatCount(step)} env steps
            </option>
          ))}
        </select>
        <label for="rollout-seed">Seed</label>
        <input
          id="rollout-seed"
          inputMode="numeric"
          placeholder="empty: a new one"
          value={seed.value}
          onInput={(event) => (seed.value = event.currentTarget.value)}
        />
        <label for="rollout-steps">Steps at most</label>
        <input
          id="rollout-steps"
          inputMode="numeric"
          placeholder="empty: to the end of the episode"
          value={steps.value}
          onInput={(event) => (steps.value = event.currentTarget.value)}
        />
        <label for="rollout-sampled">Actions</label>
        <label>
          <input
            id="rollout-sampled"
            type="checkbox"
            checked={isSampled.value}
            onChange={(event) => (isSampled.value = event.currentTarget.checked)}
          />{" "}
          sampled as in training, not the most likely ones
        </label>
        <label for="rollout-settings">Environment</label>
        <textarea
          id="rollout-settings"
          rows={3}
          placeholder={"env.kwargs.gravity=-8\nenv.noise.obs=0.1\nKEY=VALUE, one per line"}
          spellcheck={false}
          value={settings.value}
          onInput={(event) => (settings.value = event.currentTarget.value)}
        />
      </div>
      <p class="muted">The episode is stored with the run and opens when it has ended.</p>
      <TaskBox state={task.state.value} counts="steps" />
    </Dialog>
  );
}

/** Returns why a text is no whole number; empty if it is one, or if there is none. */
function notWhole(what: string, text: string): string {
  return /^\s*\d*\s*$/.test(text) ? "" : `The ${what} is a whole number.`;
}
