/** Server-sent events with cursors: a stream that is interrupted continues where it was, by itself. */
import { address, ApiError, errorOf, signedOut } from "./client";
import { backoff, onRecovery, reportReached, reportUnreachable } from "./connection";
import { decodeRecord, decodeRows } from "./decode";
import { advanced, cursorQuery, EventParser, isNew, type ServerEvent } from "./sse";
import type { Cursors, MetricRow, RunEvent, RunHandlers, RunsMessage, RunSummary } from "./types";

const SILENCE = 45_000;
/* The server sends a comment every 15 s; a connection that is silent for three of them is dead. */

/** Reports the runs: all of them first, then those that changed. Returns a function that ends it. */
export function watchRuns(onChange: (message: RunsMessage) => void, onError?: (error: ApiError) => void): () => void {
  return openStream({
    path: () => "api/stream/runs",
    onEvent: ({ event, data }) => {
      if (event !== "runs") return;
      const message = JSON.parse(data) as RunsMessage;
      message.changed.forEach((run) => decodeRecord("RunSummary", run));
      onChange(message);
    },
    onError,
  });
}

/** Reports what is new about a run after the cursors. Returns a function that ends it. */
export function watchRun(
  id: string,
  start: Cursors,
  handlers: RunHandlers,
  onError?: (error: ApiError) => void,
): () => void {
  let cursors = { ...start };
  let waiting = false;
  const stream = (): (() => void) =>
    openStream({
      path: () => `api/stream/run/${encodeURIComponent(id)}?${cursorQuery(cursors)}`,
      // The cursors are in the address, which is newer than any Last-Event-ID.
      sendLastId: false,
      onEvent: (message) => {
        if (!waiting) handle(message);
      },
      onError,
    });
  let close = stream();
  let closed = false;

  function handle({ event, data }: ServerEvent): void {
    const body = JSON.parse(data) as Record<string, unknown>;
    const cursor = body["cursor"] as number;
    if (event === "rows" && isNew("rows", cursor, cursors)) {
      cursors = advanced(cursors, "rows", cursor, body["attempt"] as number);
      handlers.rows?.(decodeRows(body["rows"]) as MetricRow[], cursor);
    } else if (event === "events" && isNew("events", cursor, cursors)) {
      cursors = advanced(cursors, "events", cursor);
      handlers.events?.(body["events"] as RunEvent[], cursor);
    } else if (event === "log" && body["cursor"] !== cursors.log) {
      cursors = { ...cursors, log: body["cursor"] as string };
      handlers.log?.(body["text"] as string, body["cursor"] as string);
    } else if (event === "summary") {
      handlers.summary?.(decodeRecord("RunSummary", body) as RunSummary);
    } else if (event === "gone") {
      close();
      handlers.gone?.();
    } else if (event === "reset") {
      void restart(body["attempt"] as number);
    }
  }

  async function restart(attempt: number): Promise<void> {
    waiting = true;
    close();
    const fresh = { ...cursors, rows: 0, events: 0, attempt };
    try {
      cursors = (await handlers.reset?.(attempt)) ?? fresh;
    } catch {
      cursors = fresh;
    }
    waiting = false;
    if (!closed) close = stream();
  }

  return () => {
    closed = true;
    close();
  };
}

interface StreamOptions {
  path: () => string;
  onEvent: (event: ServerEvent) => void;
  onError: ((error: ApiError) => void) | undefined;
  sendLastId?: boolean;
}

/** Reads a stream until it is closed, and opens it again after an interruption. A page that nobody sees
 * has no connection, since a browser has only six for each server. */
function openStream({ path, onEvent, onError, sendLastId = true }: StreamOptions): () => void {
  let closed = false;
  let lastId = "";
  let attempt = 0;
  let abort = new AbortController();
  let wake: (() => void) | null = null;

  async function run(): Promise<void> {
    while (!closed) {
      if (document.hidden) {
        await paused();
        continue;
      }
      abort = new AbortController();
      const error = await readOnce(abort);
      if (closed) return;
      if (error && error.status >= 400 && error.status < 500) {
        onError?.(error);
        return;
      }
      if (!document.hidden) await paused(backoff(attempt++));
    }
  }

  /** Reads until the connection ends; returns why, null if it was closed on purpose. */
  async function readOnce(controller: AbortController): Promise<ApiError | null> {
    const headers: Record<string, string> = { Accept: "text/event-stream" };
    if (sendLastId && lastId) headers["Last-Event-ID"] = lastId;
    let silence = 0;
    try {
      const response = await fetch(address(path()), {
        headers,
        credentials: "same-origin",
        cache: "no-store",
        signal: controller.signal,
      });
      if (response.status === 401) signedOut.value++;
      if (!response.ok) return await errorOf(response);
      if (!response.body) return null;
      reportReached();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new EventParser();
      for (;;) {
        clearTimeout(silence);
        silence = window.setTimeout(() => controller.abort(), SILENCE);
        const { done, value } = await reader.read();
        if (done) break;
        attempt = 0;
        for (const event of parser.push(value)) {
          if (closed || controller.signal.aborted) return null;
          if (event.id) lastId = event.id;
          onEvent(event);
        }
      }
    } catch {
      // Reported below unless the page itself closed the connection.
    } finally {
      clearTimeout(silence);
    }
    if (!closed && !document.hidden) reportUnreachable();
    return null;
  }

  function paused(milliseconds?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = milliseconds === undefined ? 0 : window.setTimeout(resolve, milliseconds);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  const onVisibility = () => {
    if (document.hidden) abort.abort();
    else wake?.();
  };
  const forget = onRecovery(() => wake?.());
  document.addEventListener("visibilitychange", onVisibility);
  void run();
  return () => {
    closed = true;
    abort.abort();
    wake?.();
    forget();
    document.removeEventListener("visibilitychange", onVisibility);
  };
}
