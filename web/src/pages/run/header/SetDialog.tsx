/** Changes settings of a run while it trains: only those that can change, checked by the server while typing. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { read, send } from "../../../api/client";
import { Latest } from "../../../api/latest";
import { useQuery } from "../../../api/queries";
import type { ConfigProblem, FormField, RunSummary } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Dialog } from "../../../ui/Dialog";
import { ErrorLine, ErrorState, Loading } from "../../../ui/states";
import { toast } from "../../../ui/toast";
import { useAction } from "../../../ui/useAction";
import type { RunModel } from "../model";
import { yamlValue } from "../parts/text";
import { answerText } from "./answers";
import { changedAssignments } from "./assignments";
import { setCommand } from "./commands";

interface Props {
  model: RunModel;
  run: RunSummary;
  onClose: () => void;
}

/** Keys that follow from the preset and cannot be overridden. */
const NOT_OVERRIDES = ["seed", "env.id", "algo.name"];

export function SetDialog({ model, run, onClose }: Props) {
  const base = useQuery(`present-settings:${run.id}`, () => presentSettings(run));
  const present = base.data.value;
  const form = useQuery(present ? `live-form:${run.id}:${present.join()}` : "", () =>
    read("settings_form", { target: run.preset, overrides: present! }),
  );
  const texts = useSignal<ReadonlyMap<string, string>>(new Map());
  const filter = useSignal("");
  const problems = useSignal<readonly ConfigProblem[]>([]);
  const action = useAction();
  const checks = useMemo(
    () =>
      new Latest({
        ask: (typed: string[]) => read("settings_form", { target: run.preset, overrides: [...(present ?? []), ...typed] }),
        onAnswer: (checked) => (problems.value = checked.problems),
        onError: () => undefined, // the run itself checks again
        pause: 250,
      }),
    [run.preset, present],
  );
  useEffect(() => () => checks.cancel(), [checks]);
  const assignments = changedAssignments(texts.value);

  const edit = (key: string, text: string) => {
    texts.value = new Map(texts.peek()).set(key, text);
    action.clear();
    checks.ask(changedAssignments(texts.peek()));
  };
  const apply = async () => {
    toast(answerText(await send("set_live", { ref: run.id, assignments })));
    model.refresh();
    onClose();
  };
  const error = base.error.value ?? form.error.value;
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const live = (form.data.value?.sections ?? [])
    .flatMap((section) => section.fields)
    .filter((field) => field.live && field.applies)
    .filter((field) => words.every((word) => `${field.key} ${field.doc}`.toLowerCase().includes(word)));
  return (
    <Dialog
      title={`Change settings of ${run.name || run.id}`}
      onClose={onClose}
      className="run-dialog"
      actions={
        <>
          {assignments.length > 0 && (
            <CopyButton label="Copy as CLI command" text={setCommand(run.id, assignments)} />
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={action.busy.value}
            disabledReason={assignments.length ? undefined : "Type a new value first."}
            onClick={() => void action.run(apply)}
          >
            Change
          </Button>
        </>
      }
    >
      <p class="muted">
        These settings can change while the run trains, from its next rollout on. A schedule such as{" "}
        <code>1e-3 -&gt; 0</code> spans the whole budget.
      </p>
      <input
        type="search"
        aria-label="Filter the settings"
        placeholder="Filter"
        autofocus
        onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      {error && !form.data.value && <ErrorState error={error} retry={base.refresh} />}
      {!form.data.value && !error && <Loading what="the settings" rows={8} />}
      <div class="run-live-settings">
        {live.map((field) => (
          <LiveSetting
            key={field.key}
            field={field}
            text={texts.value.get(field.key) ?? ""}
            problem={problems.value.find((found) => found.key === field.key)?.text ?? ""}
            onInput={(text) => edit(field.key, text)}
            onEnter={() => assignments.length && void apply()}
          />
        ))}
      </div>
      <ErrorLine error={action.error.value} />
    </Dialog>
  );
}

/** Returns the settings of a run that differ from its preset, as KEY=VALUE, live changes included. */
async function presentSettings(run: RunSummary): Promise<string[]> {
  const differences = await read("config_diff", { a: run.id, b: run.preset });
  return differences
    .filter(({ key, a }) => a !== null && !NOT_OVERRIDES.includes(key))
    .map(({ key, a }) => `${key}=${yamlValue(a)}`);
}

interface SettingProps {
  field: FormField;
  text: string;
  problem: string;
  onInput: (text: string) => void;
  onEnter: () => void;
}

function LiveSetting({ field, text, problem, onInput, onEnter }: SettingProps) {
  const id = `live-${field.key}`;
  const { choices } = field;
  return (
    <div class="run-live-setting">
      <label for={id} title={field.doc}>
        <code>{field.key}</code>
        <span class="small muted">{field.doc}</span>
      </label>
      <span class="num muted" title="the present value">
        {field.text}
      </span>
      <input
        id={id}
        value={text}
        placeholder={field.text}
        list={choices.length ? `${id}-choices` : undefined}
        aria-invalid={problem ? true : undefined}
        aria-describedby={problem ? `${id}-problem` : undefined}
        onInput={(event) => onInput(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && onEnter()}
      />
      {choices.length > 0 && (
        <datalist id={`${id}-choices`}>
          {choices.map((choice) => (
            <option key={choice} value={choice} />
          ))}
        </datalist>
      )}
      {problem && (
        <span id={`${id}-problem`} class="error-text small run-live-problem">
          {problem}
        </span>
      )}
    </div>
  );
}
