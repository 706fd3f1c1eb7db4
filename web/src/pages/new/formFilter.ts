/** Which settings of the form are shown. */

import type { FormField, FormSection } from "../../api/types";
import { ARGUMENTS } from "./draft";
import { sameValue } from "./valueText";

export const SCOPES = ["applies", "changed", "not default", "all"] as const;
export type Scope = (typeof SCOPES)[number];

/** Returns whether a setting has another value than its default. */
export function differsFromDefault(field: FormField): boolean {
  return !sameValue(field.value, field.default);
}

/**
 * Returns the sections with the settings to show; sections without one are left out. `words` of the search
 * must all be in the key, the description or the value. A changed setting is shown even if it does not apply.
 */
export function shownSections(
  sections: readonly FormSection[],
  search: string,
  scope: Scope,
  changed: ReadonlyMap<string, string>,
): FormSection[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const isShown = (field: FormField): boolean => {
    if (ARGUMENTS.has(field.key) && !changed.has(field.key)) return false;
    if (!inScope(field, scope, changed.has(field.key))) return false;
    const text = `${field.key} ${field.doc} ${JSON.stringify(field.value)} ${changed.get(field.key) ?? ""}`;
    return words.every((word) => text.toLowerCase().includes(word));
  };
  const filtered = sections.map((section) => ({ ...section, fields: section.fields.filter(isShown) }));
  return filtered.filter((section) => section.fields.length > 0);
}

function inScope(field: FormField, scope: Scope, changed: boolean): boolean {
  if (scope === "changed") return changed;
  if (scope === "not default") return changed || differsFromDefault(field);
  return scope === "all" || changed || field.applies;
}
