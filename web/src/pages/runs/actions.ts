/** Changes of several runs, one after the other. */

import { asApiError, send, type ApiError } from "../../api/client";
import { toast, toastError } from "../../ui/toast";

export interface BulkResult {
  done: string[];
  failed: { id: string; error: ApiError }[];
}

/** Calls `change` for every run, in order, and continues after errors. */
export async function changeEach(ids: readonly string[], change: (id: string) => Promise<unknown>): Promise<BulkResult> {
  const result: BulkResult = { done: [], failed: [] };
  for (const id of ids) {
    try {
      await change(id);
      result.done.push(id);
    } catch (error) {
      result.failed.push({ id, error: asApiError(error) });
    }
  }
  return result;
}

export async function tagRuns(ids: readonly string[], tags: string[], isRemoval: boolean): Promise<void> {
  const result = await changeEach(ids, (id) => send("tag", { ref: id, tags, remove: isRemoval }));
  const what = tags.join(", ");
  report(result, isRemoval ? `Removed ${what} from` : `Added ${what} to`);
}

export async function noteRuns(ids: readonly string[], text: string): Promise<void> {
  const result = await changeEach(ids, (id) => send("note", { ref: id, text }));
  report(result, text.trim() ? "Wrote the note of" : "Removed the note of");
}

function report(result: BulkResult, verb: string): void {
  if (result.done.length) toast(`${verb} ${countRuns(result.done.length)}.`);
  for (const { error } of result.failed) toastError(error);
}

export function countRuns(n: number): string {
  return n === 1 ? "1 run" : `${n.toLocaleString("en")} runs`;
}
