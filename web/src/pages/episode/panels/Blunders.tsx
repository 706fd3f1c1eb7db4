/** What would have been better: other actions at every step, continued with the policy, and what they would have
 * returned. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { read, send } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import type { Blunder, BlunderReport, Variation as VariationRecord } from "../../../api/types";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { ErrorLine } from "../../../ui/states";
import { useAction, type Action } from "../../../ui/useAction";
import { useTask } from "../../run/parts/useTask";
import { episodeArguments } from "../address";
import { cellText, percentText } from "../format";
import { useEpisode } from "../store";
import type { Variation } from "../types";
import { notBranchable } from "./records";

/** Number of steps for which an action can be held. */
const MAX_HOLD = 1000;

export function Blunders() {
  const store = useEpisode();
  const step = store.shown.value;
  const isMatch = (store.inspection.value?.roles.length ?? 0) > 0;
  const isKnown = store.inspection.value !== undefined && !isMatch;
  const found = useQuery(isKnown ? `stored-blunders:${JSON.stringify(store.address)}` : "", () =>
    read("stored_blunders", episodeArguments(store.address)),
  );
  const search = useTask("blunders");
  const line = useLine();
  const { running, share, error } = search.state.value;
  const report = search.state.value.result ?? found.data.value ?? undefined;
  const reason = notBranchable(store, 0);
  useEffect(() => {
    store.blunders.value = (report?.marks ?? []).map(({ step, level, lost, played_label, better_label }) => ({
      step,
      kind: level,
      size: lost,
      text: `${played_label}, better ${better_label}: -${percentText(lost)}`,
    }));
  }, [report]);
  return (
    <div class="episode-blunders">
      {!isMatch && <OtherAction step={step} line={line} />}
      <ErrorLine error={line.error.value ?? error} />
      {report ? (
        <Report report={report} line={line} />
      ) : (
        <p class="muted">
          {reason ||
            "At every step, each other action is tried and the policy continues: steps at which another action would have returned clearly more are marked."}
        </p>
      )}
      {running ? (
        <p role="status">
          Trying other actions{share === null ? "" : `, ${percentText(share)}`} <Button onClick={search.cancel}>Cancel</Button>
        </p>
      ) : (
        <Button
          onClick={() => void search.start(episodeArguments(store.address), "blunders")}
          disabledReason={reason || readOnlyReason.value || undefined}
        >
          {report ? "Search again" : "Find blunders"}
        </Button>
      )}
    </div>
  );
}

interface Line extends Pick<Action, "busy" | "error"> {
  /** Shows the line after an action at a step, which is held for some steps. */
  show(step: number, action: Blunder["better"], hold?: number): Promise<void>;
}

function useLine(): Line {
  const store = useEpisode();
  const { busy, error, run } = useAction();
  const show: Line["show"] = (step, action, hold = 1) =>
    run(async () => {
      const variation = (await send("branch", { ...episodeArguments(store.address), step, action, hold })) as VariationRecord;
      store.playing.value = false;
      store.variation.value = variation as Variation;
      store.seek(step);
    });
  return { busy, error, show };
}

function Report({ report, line }: { report: BlunderReport; line: Line }) {
  const store = useEpisode();
  const current = store.shown.value;
  return (
    <>
      <p class="muted" title={report.scale_doc}>
        {report.marks.length === 0 ? "No action lost a noticeable part of the return. " : ""}
        {report.steps_tested} of {report.steps} steps were tried with {report.lines} lines in {cellText(report.seconds)} s. Lost returns are
        shares of {cellText(report.scale)}: {report.scale_doc}
      </p>
      {report.marks.length > 0 && (
        <ol class="episode-marks" aria-label="Blunders, the worst first">
          {report.marks.map((mark) => (
            <li key={mark.step} class={mark.step === current ? "current" : ""}>
              <button type="button" class="link-button" onClick={() => store.seek(mark.step)}>
                step {mark.step}
              </button>
              <span class={`badge ${mark.level}`}>{mark.level}</span>
              <span>
                {mark.played_label}, better <strong>{mark.better_label}</strong>
              </span>
              <span class="num" title={`${cellText(mark.lost_raw)} of raw reward, standard error ${cellText(mark.error_raw)}`}>
                -{percentText(mark.lost)}
              </span>
              <Button busy={line.busy.value} onClick={() => void line.show(mark.step, mark.better)}>
                Show the line
              </Button>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function OtherAction({ step, line }: { step: number; line: Line }) {
  const store = useEpisode();
  const chosen = useSignal(0);
  const hold = useSignal(1);
  const options = store.inspection.value?.actions ?? [];
  const reason = notBranchable(store, step);
  // Only a Discrete action is one of a list.
  if (!options.length || !store.column("action")) return null;
  return (
    <p class="episode-other-action">
      <label>
        At step {step}, try{" "}
        <select value={chosen.value} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
          {options.map(({ index, name }) => (
            <option key={index} value={index}>
              {name}
            </option>
          ))}
        </select>
      </label>{" "}
      <label>
        for{" "}
        <input
          type="number"
          min={1}
          max={MAX_HOLD}
          value={hold.value}
          onChange={(event) => (hold.value = Math.max(1, Math.min(MAX_HOLD, Math.round(event.currentTarget.valueAsNumber) || 1)))}
        />{" "}
        {hold.value === 1 ? "step" : "steps"}
      </label>{" "}
      <Button
        busy={line.busy.value}
        disabledReason={reason || undefined}
        onClick={() => void line.show(step, chosen.value, hold.value)}
      >
        Show the line
      </Button>
    </p>
  );
}
