/** The columns that the user chose for the step table, by environment, in the browser's storage. */
import { signal } from "@preact/signals";
import type { ColumnInfo } from "../types";

const KEY = "gymnast.episode.columns";
/** Environments whose choice is stored. */
const STORED = 30;
/** Observation components and probabilities that are shown unless the user chose. */
const AT_FIRST = 12;

const stored = signal<Record<string, string[]>>(read());

/** Returns the names of the chosen columns; the default ones if there was no choice. */
export function chosenColumns(env: string, columns: readonly ColumnInfo[]): string[] {
  const known = new Set(columns.map(({ name }) => name));
  const names = stored.value[env];
  const chosen = Array.isArray(names) ? names.filter((name) => known.has(name)) : [];
  return chosen.length ? chosen : defaultColumns(columns);
}

/** Stores a choice; null returns to the default columns. */
export function storeColumns(env: string, names: readonly string[] | null): void {
  const { [env]: _, ...others } = stored.peek();
  const entries = Object.entries(names ? { ...others, [env]: [...names] } : others).slice(-STORED);
  stored.value = Object.fromEntries(entries);
  try {
    localStorage.setItem(KEY, JSON.stringify(stored.peek()));
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is closed.
  }
}

/** Returns the columns that are shown at first: all except the network's input, masks, and long observations. */
export function defaultColumns(columns: readonly ColumnInfo[]): string[] {
  const counts = new Map<string, number>();
  return columns
    .filter(({ name }) => {
      const prefix = name.includes("/") ? name.slice(0, name.indexOf("/")) : "";
      if (prefix === "input" || prefix === "mask" || name === "env" || name === "starts") return false;
      counts.set(prefix, (counts.get(prefix) ?? 0) + 1);
      return !prefix || (counts.get(prefix) as number) <= AT_FIRST;
    })
    .map(({ name }) => name);
}

function read(): Record<string, string[]> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return value && typeof value === "object" ? (value as Record<string, string[]>) : {};
  } catch {
    return {};
  }
}
