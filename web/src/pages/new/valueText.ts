/** Values of settings as the text that `--set KEY=TEXT` reads. */

/** Texts that YAML would not read as a text. */
const NOT_A_TEXT = /^(|~|null|true|false|[-+]?(\.inf|\.nan)|[-+]?(\d[\d_]*\.?\d*|\.\d+)([eE][-+]?\d+)?|0[xo][\da-f]+)$/i;
/** Characters at which YAML would end a text or begin something else. */
const SPECIAL = /^[[\]{}"'&*!|>%@`#,?-](?![\w.])|^["'[{&*!|>%@`#]|: |:$| #|^\s|\s$|\n/;

/** Returns the text of a plain value; empty for null. */
export function valueText(value: unknown): string {
  return value === null || value === undefined ? "" : flowText(value, false);
}

/** Returns whether two plain values are the same, whatever the order of their keys. */
export function sameValue(a: unknown, b: unknown): boolean {
  return canonical(a) === canonical(b);
}

function flowText(value: unknown, inside: boolean): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return `[${value.map((item) => flowText(item, true)).join(", ")}]`;
  if (typeof value === "object") {
    const entries = Object.entries(value).map(([key, item]) => `${plainText(key, true)}: ${flowText(item, true)}`);
    return `{${entries.join(", ")}}`;
  }
  return typeof value === "string" ? plainText(value, inside) : String(value);
}

/** Returns a text without quotes if YAML reads it as the same text. `inside`: of a list or a mapping. */
function plainText(text: string, inside: boolean): string {
  const needsQuotes = NOT_A_TEXT.test(text) || SPECIAL.test(text) || (inside && /[,[\]{}]/.test(text));
  return needsQuotes ? JSON.stringify(text) : text;
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
    return `{${entries.sort().join()}}`;
  }
  return JSON.stringify(value ?? null);
}
