/** The form of the draft, validated by the server while the user types. */

import { signal, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { asApiError, read, type ApiError } from "../../api/client";
import { Latest } from "../../api/latest";
import type { SettingsForm } from "../../api/types";
import { assignments, type Draft } from "./draft";

const PAUSE = 150;

export interface FormState {
  /** The newest form; that of an earlier draft while the present one is validated. */
  form: SettingsForm | undefined;
  /** Why there is no form: a wrong target, or code that the server does not load. */
  error: ApiError | undefined;
  /** Whether the form is about the present draft. */
  isCurrent: boolean;
}

/** Returns the form of the draft. Answers about earlier drafts are dropped. */
export function useSettingsForm(draft: ReadonlySignal<Draft>): ReadonlySignal<FormState> {
  const { state, latest } = useMemo(() => validation(), []);
  const { target, algo, changes } = draft.value;
  useEffect(() => {
    state.value = { ...state.peek(), isCurrent: false };
    if (target.trim()) latest.ask({ target: target.trim(), algo, changes: assignments(draft.peek()) }, !state.peek().form);
    else {
      latest.cancel();
      state.value = { form: undefined, error: undefined, isCurrent: true };
    }
  }, [target, algo, changes]);
  useEffect(() => () => latest.cancel(), []);
  return state;
}

interface Question {
  target: string;
  algo: string;
  changes: string[];
}

function validation() {
  const state = signal<FormState>({ form: undefined, error: undefined, isCurrent: true });
  const latest = new Latest<Question, SettingsForm>({
    ask: ({ target, algo, changes }, abort) =>
      read("settings_form", { target, algo: algo || null, overrides: changes }, { signal: abort }),
    onAnswer: (form) => (state.value = { form, error: undefined, isCurrent: true }),
    onError: (error) => {
      const problem = asApiError(error);
      state.value = { form: state.peek().form, error: problem, isCurrent: true };
    },
    pause: PAUSE,
  });
  return { state, latest };
}
