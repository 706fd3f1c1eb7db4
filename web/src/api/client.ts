/** Calls the operations of the server. */
import { signal } from "@preact/signals";
import { decodeResult } from "./decode";
import { reportReached, reportUnreachable } from "./connection";
import { unpack } from "./packed";
import type { Answers, Arguments, Reads, Results, TaskOperation } from "./types";

/** An error with the place and the fix that the server names. */
export class ApiError extends Error {
  constructor(
    /** The kind of error; `offline` if the server did not answer. */
    readonly code: string,
    message: string,
    /** The place of the problem: a file, a config key, a run. */
    readonly at = "",
    readonly fix = "",
    /** HTTP status; 0 if the server did not answer. */
    readonly status = 0,
  ) {
    super(message);
  }
}

/** Returns what was thrown as an ApiError: a mistake of the page has the code `page`. */
export function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError("page", String(error));
}

/** Counts the answers that asked to sign in: the cookie has expired, or belongs to another server. */
export const signedOut = signal(0);

export type ReadArguments<K extends keyof Reads = keyof Reads> = Arguments[K];

/** Returns the address of a path of the server, under its prefix. */
export function address(path: string): string {
  return new URL(path.replace(/^\//, ""), document.baseURI).href;
}

/** Operations with long lists of numbers, which are read in packed form: as typed arrays. */
const PACKED: ReadonlySet<string> = new Set(["curves", "inspect"]);

/** Reads with GET. */
export async function read<K extends keyof Reads>(
  operation: K,
  args: Arguments[K],
  options: { signal?: AbortSignal } = {},
): Promise<Reads[K]> {
  const packed = PACKED.has(operation);
  const accept = packed ? "application/octet-stream" : "application/json";
  const response = await request(`api/${operation}?${queryText(args)}`, { headers: { Accept: accept }, ...options });
  if (packed && response.headers.get("Content-Type")?.startsWith("application/octet-stream")) {
    return decodeResult(operation, unpack(await response.arrayBuffer())) as Reads[K];
  }
  return decodeResult(operation, await response.json()) as Reads[K];
}

/** Calls an operation with POST: changes, tasks, and reads with long arguments. */
export async function send<K extends keyof Results>(operation: K, body: Arguments[K]): Promise<Answers[K]> {
  const response = await request(`api/${operation}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json" },
    body: JSON.stringify(body),
  });
  const isTask = response.status === 202;
  return decodeResult(isTask ? "task" : operation, await response.json()) as Answers[K];
}

/** Starts a task and waits for its result; `onProgress` gets the share that is done, null if it is unknown, and the
 * amount: steps, episodes, matches. */
export async function runTask<K extends TaskOperation>(
  operation: K,
  body: Arguments[K],
  options: { onProgress?: (share: number | null, done: number) => void; signal?: AbortSignal } = {},
): Promise<Results[K]> {
  let task = (await send(operation, body)) as unknown as Results["task"];
  const { id } = task;
  const cancel = () => void send("cancel_task", { id }).catch(() => undefined);
  options.signal?.addEventListener("abort", cancel, { once: true });
  if (options.signal?.aborted) cancel();
  while (task.state === "queued" || task.state === "running") {
    const { done, total } = task.progress;
    options.onProgress?.(total ? done / total : null, done);
    await new Promise((resolve) => setTimeout(resolve, 300));
    task = await read("task", { id });
  }
  options.signal?.removeEventListener("abort", cancel);
  const outcome = await read("task_result", { id, timeout: 5 });
  if (outcome.failure) {
    throw new ApiError(outcome.failure.code, outcome.failure.message, outcome.failure.at, outcome.failure.fix, 500);
  }
  return decodeResult(operation, outcome.result) as Results[K];
}

/** Sends a request and raises ApiError unless it succeeded. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address(path), { credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    reportUnreachable();
    throw new ApiError("offline", "The server does not answer.", "", "Start it again: gymnast studio");
  }
  reportReached();
  if (response.status === 401) signedOut.value++;
  if (!response.ok) throw await errorOf(response);
  return response;
}

/** Returns the error that a response describes. */
export async function errorOf(response: Response): Promise<ApiError> {
  const { status } = response;
  try {
    const body = (await response.json()) as { code?: string; message?: string; at?: string; fix?: string };
    return new ApiError(body.code ?? "failed", body.message ?? response.statusText, body.at ?? "", body.fix ?? "", status);
  } catch {
    return new ApiError("failed", `The server answered ${status} ${response.statusText}.`, "", "", status);
  }
}

/** Returns arguments as the query of an address: lists repeat the name, mappings are JSON, null is left out. */
export function queryText(args: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined) continue;
    if (Array.isArray(value)) value.forEach((item) => query.append(name, String(item)));
    else query.append(name, typeof value === "object" ? JSON.stringify(value) : String(value));
  }
  return query.toString();
}
