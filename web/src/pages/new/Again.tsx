/** Training a run again with changes: the form starts with the settings in which it differs from its preset. */

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asApiError, read, type ApiError } from "../../api/client";
import type { RunDetails } from "../../api/types";
import { Link, runPath } from "../../app/router";
import { ErrorState } from "../../ui/states";
import type { Draft } from "./draft";
import { chosenAlgorithm, draftOfRun } from "./fromRun";
import { valueText } from "./valueText";

export interface Again {
  /** The run that is trained again. */
  run: RunDetails | undefined;
  error: ApiError | undefined;
  isLoading: boolean;
}

/** Calls `onDraft` with the request that trains the run again. `ref`: empty for none. */
export function useAgain(ref: string, onDraft: (draft: Draft) => void): Again {
  const state = useSignal<Again>({ run: undefined, error: undefined, isLoading: ref !== "" });
  useEffect(() => {
    if (!ref) return undefined;
    let isDropped = false;
    state.value = { run: undefined, error: undefined, isLoading: true };
    void loadDraft(ref).then(
      ({ run, draft }) => {
        if (isDropped) return;
        onDraft(draft);
        state.value = { run, error: undefined, isLoading: false };
      },
      (problem: unknown) => {
        const error = asApiError(problem);
        if (!isDropped) state.value = { run: undefined, error, isLoading: false };
      },
    );
    return () => void (isDropped = true);
  }, [ref]);
  return state.value;
}

async function loadDraft(ref: string): Promise<{ run: RunDetails; draft: Draft }> {
  const run = await read("show", { ref });
  const form = await read("settings_form", { target: run.preset, algo: chosenAlgorithm(run) || null });
  return { run, draft: draftOfRun(run, form.sections) };
}

interface NoticeProps {
  again: Again;
  /** The present target; the notice is about the one of the run. */
  target: string;
  /** Changes a setting. */
  onApply: (key: string, text: string) => void;
}

export function AgainNotice({ again, target, onApply }: NoticeProps) {
  if (again.error) return <ErrorState error={again.error} height={120} />;
  const { run } = again;
  if (!run || run.preset !== target) return null;
  const live = Object.entries(run.live);
  return (
    <div class="again-notice" role="status">
      <p>
        The settings are those with which <Link to={runPath(run.id)}>{run.name || run.id}</Link> started; what differs from{" "}
        <code>{run.preset}</code> is marked as changed.
      </p>
      {live.length > 0 && (
        <p>
          It was changed while it trained:{" "}
          {live.map(([key, value]) => (
            <button key={key} type="button" class="link-button" onClick={() => onApply(key, valueText(value))}>
              use {key}={valueText(value)}
            </button>
          ))}
        </p>
      )}
    </div>
  );
}
