/** Which metrics the runs of a comparison recorded. */
import { read } from "../../api/client";
import type { RunSummary } from "../../api/types";

/** Rows that are looked at: the latest row may lack what is measured less often, such as evaluations. */
const ROWS = 24;
const MAX_RUNS = 6;

/** Returns one run of every kind, the latest of each: runs with the same preset record the same metrics. */
export function representatives(runs: readonly Pick<RunSummary, "id" | "preset">[]): string[] {
  const byPreset = new Map<string, string>();
  for (const run of runs) if (!byPreset.has(run.preset)) byPreset.set(run.preset, run.id);
  return [...byPreset.values()].slice(0, MAX_RUNS);
}

/** Reads the keys that these runs recorded in their latest rows. A run that cannot be read has none. */
export async function readKnownKeys(ids: readonly string[]): Promise<Set<string>> {
  const answers = await Promise.allSettled(ids.map((ref) => read("rows", { ref, last: ROWS })));
  const keys = new Set<string>();
  for (const answer of answers) {
    if (answer.status !== "fulfilled") continue;
    for (const row of answer.value.rows) for (const key of Object.keys(row)) keys.add(key);
  }
  return keys;
}
