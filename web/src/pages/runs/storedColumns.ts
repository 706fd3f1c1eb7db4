/** The columns that the user has chosen, stored in the browser. */

import { signal } from "@preact/signals";
import { chosenColumns, DEFAULT_COLUMNS } from "./columns";

const KEY = "gymnast.runs.columns";

export const storedColumns = signal<readonly string[]>(load());

/** Shows these columns from now on. */
export function storeColumns(ids: readonly string[]): void {
  storedColumns.value = ids;
  try {
    localStorage.setItem(KEY, JSON.stringify(ids));
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is closed.
  }
}

function load(): readonly string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    if (Array.isArray(stored) && chosenColumns(stored.map(String)).length) return stored.map(String);
  } catch {
    // Nothing readable is stored.
  }
  return DEFAULT_COLUMNS;
}
