/** Reads an episode for the inspector. */
import { read } from "../../api/client";
import { agentArguments } from "./address";
import type { Cell, EpisodeAddress, EpisodeInspection, StepTable } from "./types";

/** Returns everything that is known about a stored episode. */
export async function readInspection(address: EpisodeAddress, signal: AbortSignal): Promise<EpisodeInspection> {
  const inspection = await read("inspect", agentArguments(address), { signal });
  return { ...inspection, table: restoredTable(inspection.table) };
}

const NOT_FINITE: Record<string, number> = { nan: NaN, inf: Infinity, "-inf": -Infinity };

/** Returns a table with its numbers restored: columns of numbers arrive as typed arrays, and as texts where JSON has no
 * NaN and infinity. A column with any other text is one of texts, and is left as it is. */
export function restoredTable(table: StepTable): StepTable {
  return Object.fromEntries(Object.entries(table).map(([name, values]) => [name, restoredColumn(values)]));
}

function restoredColumn(values: readonly Cell[] | Float64Array): readonly Cell[] {
  if (values instanceof Float64Array) return Array.from(values);
  let isWhole = true;
  for (const value of values) {
    if (value === null) isWhole = false;
    else if (typeof value === "string") {
      if (!(value in NOT_FINITE)) return values;
      isWhole = false;
    }
  }
  if (isWhole) return values;
  return values.map((value) => (value === null ? NaN : typeof value === "string" ? (NOT_FINITE[value] ?? NaN) : value));
}
