/** JSON has no numbers for NaN and infinity: the server writes texts, and this restores the numbers.
 * Only where the schema of a record has a number, since a run may be named "nan". */
import { RECORD_SHAPES, RESULT_SHAPES } from "./records";

const NUMBERS: Record<string, number> = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** Returns the result of an operation with its numbers restored, in place. */
export function decodeResult(operation: string, value: unknown): unknown {
  return restored(value, RESULT_SHAPES[operation] ?? null);
}

/** Returns a record with its numbers restored, in place. */
export function decodeRecord(name: string, value: unknown): unknown {
  return restored(value, name);
}

/** Returns metric rows with their numbers restored, in place. */
export function decodeRows(value: unknown): unknown {
  return restored(value, [{ "*": 1 }]);
}

function restored(value: unknown, shape: unknown): unknown {
  if (shape === null || shape === undefined || value === null) return value;
  if (shape === 1) return typeof value === "string" ? (NUMBERS[value] ?? value) : value;
  if (typeof shape === "string") return restored(value, RECORD_SHAPES[shape] ?? null);
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return value;
    for (let i = 0; i < value.length; i++) value[i] = restored(value[i], shape[0]);
    return value;
  }
  if (typeof value !== "object" || typeof shape !== "object") return value;
  const record = value as Record<string, unknown>;
  const fields = shape as Record<string, unknown>;
  const keys = "*" in fields ? Object.keys(record) : Object.keys(fields);
  for (const key of keys) {
    if (key in record) record[key] = restored(record[key], fields[key] ?? fields["*"]);
  }
  return record;
}
