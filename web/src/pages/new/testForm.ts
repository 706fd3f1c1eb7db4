/** Settings for tests. */

import type { FormField, FormSection } from "../../api/types";

/** Returns a setting that applies and has its default value. */
export function testField(key: string, value: unknown, fields: Partial<FormField> = {}): FormField {
  return {
    key,
    kind: "number",
    schedulable: false,
    doc: "",
    value,
    text: JSON.stringify(value),
    default: value,
    origin: "default",
    layer: "default",
    choices: [],
    live: false,
    applies: true,
    condition: "",
    low: null,
    high: null,
    ...fields,
  };
}

export function testSection(name: string, ...fields: FormField[]): FormSection {
  return { name, doc: "", fields };
}
