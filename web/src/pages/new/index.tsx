/** Starts a run: what to train, all settings in a form, and the equivalent command. */

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { navigate, route } from "../../app/router";
import { useShortcut } from "../../app/shortcuts";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { draftPath, parseDraft, withChange, type Draft } from "./draft";
import { AgainNotice, useAgain } from "./Again";
import "./new.css";
import "./request.css";
import "./settings.css";
import { PresetList, usePresets } from "./PresetList";
import { requestProblems } from "./problems";
import { Queue } from "./Queue";
import { RequestPanel } from "./RequestPanel";
import { SettingsEditor } from "./SettingsEditor";
import { TargetBar } from "./TargetBar";
import { useJobs } from "./useJobs";
import { useLaunch } from "./useLaunch";
import { useSettingsForm } from "./useSettingsForm";
import { waitingJobs } from "./waitingJobs";

export default function NewRunPage() {
  const { params } = route.value;
  const draft = useSignal<Draft>(parseDraft(params));
  /** The address that this page has written itself. */
  const written = useRef("");
  const change = (changes: Partial<Draft>) => (draft.value = { ...draft.peek(), ...changes });
  const again = useAgain(params.get("from") ?? "", (found) => (draft.value = found));
  const presets = usePresets();
  const { form, error, isCurrent } = useSettingsForm(draft).value;
  const jobs = useJobs();
  const launch = useLaunch(draft, jobs.data.value ?? []);
  const problems = requestProblems(draft.value, form);

  // The address follows when typing has paused, so that the draft can be reloaded, linked and gone back to.
  useEffect(() => {
    if (!isCurrent || again.isLoading) return;
    written.current = draftPath(draft.peek());
    navigate(written.current, { replace: true });
  }, [isCurrent, draft.value, again.isLoading]);
  // Another address is a link to this page or the back button.
  useEffect(() => {
    const linked = parseDraft(params);
    if (written.current && !params.has("from") && draftPath(linked) !== written.current) draft.value = linked;
  }, [params]);
  useShortcut("ctrl+enter", "Start the run", () => {
    if (!problems.length && !error && isCurrent) launch.start();
  });

  return (
    <div class="new-page">
      <h1 class="visually-hidden">New run</h1>
      <aside class="preset-panel" aria-label="Presets">
        <PresetList target={draft.value.target} onChoose={(preset) => change({ target: preset.name, algo: "" })} />
      </aside>
      <div class="target-panel">
        <AgainNotice again={again} target={draft.value.target} onApply={(key, text) => (draft.value = withChange(draft.peek(), key, text))} />
        <TargetBar draft={draft.value} presets={presets.data.value ?? []} form={form} error={error} onChange={change} />
      </div>
      <div class="settings-panel">
        {error ? (
          <ErrorState error={error} />
        ) : form ? (
          <SettingsEditor
            key={form.target}
            form={form}
            changes={draft.value.changes}
            onChange={(key, text) => (draft.value = withChange(draft.peek(), key, text))}
          />
        ) : draft.value.target.trim() || again.isLoading ? (
          <Loading what="the settings" rows={20} />
        ) : (
          <Empty title="Choose a preset, or type an environment" command="gymnast train CartPole-v1">
            <p>Each preset has tested settings. Every value can be changed before the run starts.</p>
          </Empty>
        )}
      </div>
      <aside class="request-panel" aria-label="Run">
        <RequestPanel draft={draft.value} onChange={change} problems={problems} error={error?.message ?? ""} launch={launch} />
        <Queue jobs={waitingJobs(jobs.data.value ?? [])} />
      </aside>
    </div>
  );
}
