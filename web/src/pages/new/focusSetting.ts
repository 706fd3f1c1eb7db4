/** Which setting of the form is to get the focus: one that a problem or the command palette names. */

import { signal } from "@preact/signals";

export const wantedSetting = signal("");

/** Id of the input of a setting. */
export function fieldId(key: string): string {
  return `setting-${key}`;
}

/** Shows a setting and focuses its input, even if it is in a closed section or filtered out. */
export function focusSetting(key: string): void {
  wantedSetting.value = "";
  wantedSetting.value = key;
}

/** Focuses the input of the wanted setting; false if it is not drawn. */
export function focusWanted(): boolean {
  const input = document.getElementById(fieldId(wantedSetting.peek()));
  if (!input) return false;
  wantedSetting.value = "";
  input.focus();
  input.scrollIntoView({ block: "center" });
  return true;
}
