/** Name, seeds and source of the run, the equivalent command, problems, dry run and start. */

import { useId } from "preact/hooks";
import { useRuns } from "../../api/runs";
import { Link } from "../../app/router";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { ErrorLine } from "../../ui/states";
import { trainCommand, withChange, type Draft } from "./draft";
import { focusSetting } from "./focusSetting";
import { PlanDialog } from "./PlanDialog";
import type { RequestProblem } from "./problems";
import type { Launch } from "./useLaunch";

interface Props {
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
  problems: RequestProblem[];
  /** Why there is no form; empty if there is one. */
  error: string;
  launch: Launch;
}

export function RequestPanel({ draft, onChange, problems, error, launch }: Props) {
  const command = trainCommand(draft);
  const wrong = error || problems[0]?.message || "";
  return (
    <div class="request">
      <div class="request-fields">
        <TextField label="Name" value={draft.name} onInput={(name) => onChange({ name })} />
        <TextField label="Tags" value={draft.tags} onInput={(tags) => onChange({ tags })} />
        <TextField label="Seed" value={draft.seed} placeholder="of the config" onInput={(seed) => onChange({ seed })} numeric />
        <TextField label="Number of seeds" value={draft.seeds} placeholder="one run" onInput={(seeds) => onChange({ seeds })} numeric />
        <SourceField draft={draft} onChange={onChange} />
      </div>
      <div class="request-buttons">
        <Button kind="primary" onClick={launch.start} busy={launch.isStarting.value} disabledReason={readOnlyReason.value || wrong}>
          Start <kbd>ctrl+enter</kbd>
        </Button>
        <Button onClick={launch.dryRun} busy={launch.isPlanning.value} disabledReason={wrong}>
          Dry run
        </Button>
        {draft.target.trim() && !error && (
          <Link class="button" to={`/play/${encodeURIComponent(draft.target.trim())}`} title="Play this environment yourself, with the keys">
            Play
          </Link>
        )}
      </div>
      <div class="command-box">
        <code>{command}</code>
        <CopyButton text={command} />
      </div>
      {problems.length > 0 && draft.target && <Problems problems={problems} draft={draft} onChange={onChange} />}
      <div class="launch-state" role="status">
        <ErrorLine error={launch.error.value} />
        {launch.message.value && <p>{launch.message.value}</p>}
      </div>
      {launch.plan.value && <PlanDialog launch={launch} disabledReason={readOnlyReason.value || wrong} />}
    </div>
  );
}

interface TextFieldProps {
  label: string;
  value: string;
  onInput: (text: string) => void;
  placeholder?: string;
  numeric?: boolean;
  list?: string;
}

function TextField({ label, value, onInput, placeholder, numeric, list }: TextFieldProps) {
  return (
    <label class="stacked">
      {label}
      <input
        value={value}
        placeholder={placeholder}
        inputMode={numeric ? "numeric" : "text"}
        list={list}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

function SourceField({ draft, onChange }: { draft: Draft; onChange: (change: Partial<Draft>) => void }) {
  const list = useId();
  const { runs } = useRuns();
  const refs = (runs.value ?? []).filter((run) => run.best_step !== null).map((run) => `${run.name || run.id}:best`);
  return (
    <div class="wide">
      <TextField
        label="Start from the weights of"
        value={draft.source}
        placeholder="RUN[:CHECKPOINT]"
        list={list}
        onInput={(source) => onChange({ source })}
      />
      <datalist id={list}>
        {refs.slice(0, 200).map((ref) => (
          <option key={ref} value={ref} />
        ))}
      </datalist>
    </div>
  );
}

interface ProblemsProps {
  problems: RequestProblem[];
  draft: Draft;
  onChange: (change: Partial<Draft>) => void;
}

function Problems({ problems, draft, onChange }: ProblemsProps) {
  return (
    <section class="problems" aria-label="Problems">
      <h2 class="error-text">{problems.length === 1 ? "1 problem" : `${problems.length} problems`}</h2>
      <ul>
        {problems.map(({ at, message, isSetting }) => (
          <li key={`${at} ${message}`}>
            {isSetting ? (
              <button type="button" class="link-button" onClick={() => focusSetting(at)}>
                {message}
              </button>
            ) : (
              message
            )}{" "}
            {draft.changes.has(at) && (
              <button type="button" class="link-button remove" onClick={() => onChange(withChange(draft, at, null))}>
                remove
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
