/** Problems of the whole request, for the summary. */

import type { SettingsForm } from "../../api/types";
import { draftProblems, type Draft } from "./draft";

export interface RequestProblem {
  /** Dotted key of the setting, or the field of the request. */
  at: string;
  message: string;
  /** Whether `at` is a setting of the form. */
  isSetting: boolean;
}

/** Returns all problems: those of the request itself first, then those that the server found. */
export function requestProblems(draft: Draft, form: SettingsForm | undefined): RequestProblem[] {
  const keys = new Set(form?.sections.flatMap((section) => section.fields.map((field) => field.key)));
  return [
    ...draftProblems(draft).map(({ field, message }) => ({ at: field, message, isSetting: false })),
    ...(form?.problems ?? []).map(({ key, text, message }) => ({
      at: key,
      message: key ? `${key}: ${text}` : message,
      isSetting: keys.has(key),
    })),
  ];
}
