/** Chooses an episode to show next to the current one: a stored one with the same seed, or a fresh one. */
import { useSignal } from "@preact/signals";
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import { useRuns } from "../../../api/runs";
import type { EpisodeInfo } from "../../../api/types";
import { setParams } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { Dialog } from "../../../ui/Dialog";
import { formatCount } from "../../../ui/numbers";
import { ErrorLine } from "../../../ui/states";
import { TaskBox } from "../../run/parts/TaskBox";
import { useTask } from "../../run/parts/useTask";
import { episodeText } from "../address";
import { cellText } from "../format";
import { useEpisode } from "../store";
import { sameSeed } from "./others";

const LIMIT = 2000;

export function CompareDialog({ onClose }: { onClose: () => void }) {
  const store = useEpisode();
  const { address } = store;
  const known = store.inspection.value;
  const run = useSignal(address.run);
  const checkpoint = useSignal("best");
  const task = useTask("roll_out");
  const { running } = task.state.value;
  const runs = (useRuns().runs.value ?? []).filter(({ env }) => env === known?.env);
  const seed = known?.info.seed ?? -1;
  const stored = useQuery(`episodes:${run.value}`, () => read("episodes", { ref: run.value, limit: LIMIT }));
  const found = sameSeed(stored.data.value?.episodes ?? [], seed, { ...address, isSameRun: run.value === address.run });
  const show = (episode: Pick<EpisodeInfo, "kind" | "version" | "number">) => {
    setParams({ with: `${run.value}/${episodeText(episode)}` });
    onClose();
  };
  const close = () => {
    task.cancel();
    onClose();
  };
  const rollOut = async () => {
    const episode = await task.start({ ref: `${run.value}:${checkpoint.value}`, seed }, "Rolling out");
    if (episode) show(episode);
  };
  return (
    <Dialog
      title="Show next to another episode"
      onClose={close}
      className="run-dialog"
      actions={<Button onClick={running ? task.cancel : onClose}>Cancel</Button>}
    >
      <div class="run-form">
        <label for="other-run">Run</label>
        <select id="other-run" value={run.value} onChange={(event) => (run.value = event.currentTarget.value)}>
          {runs.map(({ id, name }) => (
            <option key={id} value={id}>
              {name || id}
              {id === address.run ? " (this run)" : ""}
            </option>
          ))}
        </select>
        <label for="other-checkpoint">Checkpoint</label>
        <span>
          <input id="other-checkpoint" value={checkpoint.value} onInput={(event) => (checkpoint.value = event.currentTarget.value)} />{" "}
          <Button busy={running} disabledReason={readOnlyReason.value || undefined} onClick={() => void rollOut()}>
            Roll out with seed {seed}
          </Button>
        </span>
      </div>
      <TaskBox state={task.state.value} counts="steps" />
      <ErrorLine error={stored.error.value} />
      <h3>Stored episodes with this seed</h3>
      {found.length === 0 && <p class="muted">{stored.data.value ? "There are none: roll one out." : "Looking for them."}</p>}
      <ul class="episode-others">
        {found.map((episode) => (
          <li key={episodeText(episode)}>
            <button type="button" class="link-button" onClick={() => show(episode)}>
              {episode.kind} episode {episode.number} of {formatCount(episode.version)} env steps
            </button>{" "}
            <span class="muted">
              return {cellText(episode.raw_return)}, {episode.length} steps, {episode.outcome}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
