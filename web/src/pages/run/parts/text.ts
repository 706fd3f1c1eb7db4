/** Values as text, as the command line writes them. */

/** Returns a whole number with separators of thousands. */
export function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 0 });
}

/** Returns `1 row`, `12 rows`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : plural}`;
}

/** Returns the plain value of a setting: `off` for none, lists and mappings in flow style. */
export function plainValue(value: unknown): string {
  if (value === null || value === undefined) return "off";
  if (typeof value === "boolean") return value ? "on" : "off";
  if (typeof value === "number" || typeof value === "bigint") return numberText(Number(value));
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return `[${value.map(nestedValue).join(", ")}]`;
  return `{${Object.entries(value).map(([key, entry]) => `${key}: ${nestedValue(entry)}`).join(", ")}}`;
}

/** Returns a setting as YAML on one line; texts that YAML would read as something else are quoted. */
export function yamlValue(value: unknown): string {
  if (typeof value === "string") return needsQuotes(value) ? JSON.stringify(value) : value;
  if (Array.isArray(value)) return `[${value.map(yamlValue).join(", ")}]`;
  if (value && typeof value === "object") {
    const entries = Object.entries(value).map(([key, entry]) => `${yamlValue(key)}: ${yamlValue(entry)}`);
    return `{${entries.join(", ")}}`;
  }
  return plainValue(value);
}

function nestedValue(value: unknown): string {
  return typeof value === "string" && /[,[\]{}]/.test(value) ? JSON.stringify(value) : plainValue(value);
}

/** Returns a number with all its digits; exponents as Python writes them (`1e-05`). */
function numberText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
  return String(value).replace(/e([+-])(\d)$/, "e$10$2");
}

function needsQuotes(text: string): boolean {
  return (
    text === "" ||
    text.trim() !== text ||
    /^[-?:,[\]{}#&*!|>'"%@`]/.test(text) ||
    /: |:$| #|[\n\t,[\]{}]/.test(text) ||
    (text !== "" && !Number.isNaN(Number(text))) ||
    /^(true|false|yes|no|on|null|~|\.nan|[-+]?\.inf)$/i.test(text)
  );
}
