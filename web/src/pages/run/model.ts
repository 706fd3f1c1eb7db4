/** One run, live: what is known about it, and the rows, events and log lines that arrive while it trains. */
import { signal, type Signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { ApiError, asApiError, read } from "../../api/client";
import { onRecovery } from "../../api/connection";
import { watchRun } from "../../api/stream";
import type { Cursors, JobStatus, MetricRow, RunDetails, RunEvent, RunSummary } from "../../api/types";
import { SCORED_STEPS } from "./charts/keys";
import { Throttle } from "./parts/throttle";

export type RowListener = (rows: readonly MetricRow[]) => void;

/** Details are read again at most this often while a run trains, in milliseconds. */
const DETAILS_PAUSE = 3000;
const JOB_PAUSE = 1500;
/** Statuses of a job that does not train yet. */
const WAITING = ["queued", "starting"];
/** Statuses of a job that ended before there was a run. */
const ENDED_EARLY = ["failed", "stopped", "lost"];
/** Rows that are kept for charts that load later. */
const RECENT = 4000;

export class RunModel {
  readonly details: Signal<RunDetails | undefined> = signal(undefined);
  readonly summary: Signal<RunSummary | undefined> = signal(undefined);
  readonly events: Signal<readonly RunEvent[]> = signal([]);
  /** A job that has no run yet. */
  readonly job: Signal<JobStatus | undefined> = signal(undefined);
  /** The job that will resume the run: it waits, starts, or has failed to start. */
  readonly resuming: Signal<JobStatus | undefined> = signal(undefined);
  readonly error: Signal<ApiError | undefined> = signal(undefined);
  /** Counts how often everything was read again, because a resume replaced rows. */
  readonly generation = signal(0);
  /** Rows since the page was opened, the newest last. */
  recent: MetricRow[] = [];

  private readonly listeners = new Set<RowListener>();
  // Without an answer the details stay as they are, and the bar at the top says so.
  private readonly reloads = new Throttle(DETAILS_PAUSE, () => void this.loadDetails().catch(() => undefined));
  private cursors: Cursors = { rows: 0, attempt: 0, events: 0 };
  private readonly position = deferred();
  private onLog: ((text: string) => void) | undefined;
  private close: (() => void) | undefined;
  private closed = false;

  constructor(readonly id: string) {}

  async start(): Promise<void> {
    try {
      await this.loadAll();
      if (!this.closed) this.openStream();
    } catch (error) {
      if (this.closed) return;
      const problem = asApiError(error);
      if (problem.code === "offline") return this.startOnRecovery();
      if (!(await this.waitForRun())) await this.explain(problem);
    }
  }

  private startOnRecovery(): void {
    const forget = onRecovery(() => {
      forget();
      if (!this.closed) void this.start();
    });
  }

  stop(): void {
    this.closed = true;
    this.close?.();
    this.reloads.stop();
  }

  /** Calls `listener` with rows as they arrive. Returns a function that ends this. */
  onRows(listener: RowListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Follows the log from a cursor on, until the returned function is called. */
  followLog(cursor: string, onText: (text: string) => void): () => void {
    this.onLog = onText;
    this.cursors = { ...this.cursors, log: cursor };
    this.reopen();
    return () => {
      this.onLog = undefined;
      const { log: _, ...others } = this.cursors;
      this.cursors = others;
      this.reopen();
    };
  }

  /** Reads everything about the run again, for example after a command. */
  refresh(): void {
    this.reloads.now();
  }

  /** Shows new tags or a new note at once; the server has them already. */
  changeLabels(labels: Partial<Pick<RunSummary, "tags" | "note">>): void {
    const summary = this.summary.peek();
    if (summary) this.summary.value = { ...summary, ...labels };
  }

  /** Follows a job that resumes the run until it trains, or until it is clear that it will not. */
  async followResume(): Promise<void> {
    const attempts = this.details.peek()?.attempts ?? 0;
    while (!this.closed) {
      const job = (await read("jobs", {}).catch(() => [])).find((found) => found.id === this.id);
      if (this.closed || !job) return;
      const waits = WAITING.includes(job.status);
      const failed = job.status === "failed" && (this.details.peek()?.attempts ?? 0) <= attempts;
      this.resuming.value = waits || failed ? job : undefined;
      if (!waits) return this.refresh();
      await new Promise((resolve) => setTimeout(resolve, JOB_PAUSE));
    }
  }

  /** Resolves when the position in the rows is known: whatever is read after that misses no row of the stream.
   * It waits as long as there is no such run. */
  get positioned(): Promise<void> {
    return this.position.promise;
  }

  private async loadAll(): Promise<void> {
    const position = this.readPosition();
    void position.then(() => this.position.resolve(), () => undefined);
    const [{ cursor, attempt }] = await Promise.all([position, this.loadDetails(true)]);
    this.cursors = { ...this.cursors, rows: cursor, attempt, events: this.events.peek().length };
  }

  /** Returns the position of the last row; a run whose rows are damaged is shown without them. */
  private async readPosition(): Promise<{ cursor: number; attempt: number }> {
    try {
      return await read("rows", { ref: this.id, last: 1 });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) throw error;
      return { cursor: 0, attempt: 0 };
    }
  }

  private async loadDetails(withEvents = false): Promise<void> {
    const details = await read("show", { ref: this.id });
    if (this.closed) return;
    this.details.value = details;
    this.job.value = undefined;
    this.error.value = undefined;
    if (withEvents || !this.summary.peek()) {
      this.summary.value = details;
      this.events.value = details.events;
    }
  }

  private openStream(): void {
    this.close = watchRun(this.id, this.cursors, {
      rows: (rows, cursor) => {
        this.cursors.rows = cursor;
        this.recent.push(...rows);
        if (this.recent.length > 2 * RECENT) this.recent = this.recent.slice(-RECENT);
        for (const listener of this.listeners) listener(rows);
        if (rows.some((row) => SCORED_STEPS in row)) this.reloads.soon();
      },
      events: (events, cursor) => {
        this.cursors.events = cursor;
        this.events.value = [...this.events.peek(), ...events];
        this.reloads.soon();
      },
      summary: (summary) => {
        const before = this.summary.peek();
        this.summary.value = summary;
        if (!before || isStale(before, summary)) this.reloads.soon();
      },
      log: (text, cursor) => {
        this.cursors.log = cursor;
        this.onLog?.(text);
      },
      reset: async () => {
        this.recent = [];
        await this.loadAll();
        this.generation.value++;
        return this.cursors;
      },
    });
  }

  private reopen(): void {
    if (!this.close || this.closed) return;
    this.close();
    this.openStream();
  }

  /** Shows why the run cannot be shown: a damaged one is still in the list of runs, with its problem. */
  private async explain(problem: ApiError): Promise<void> {
    const listed = await read("runs", { filter: `id=${this.id}` }).catch(() => undefined);
    if (this.closed) return;
    this.summary.value = listed?.runs.find((run) => run.id === this.id && run.status === "unreadable");
    this.error.value = problem;
  }

  /** Waits for the run of a job that is queued or starting. Returns false if there is no such job. */
  private async waitForRun(): Promise<boolean> {
    for (;;) {
      const jobs = await read("jobs", {}).catch(() => undefined);
      const job = jobs?.find((found) => found.id === this.id || found.name === this.id);
      if (this.closed) return true;
      if (jobs && !job) return false;
      if (job) this.job.value = job;
      if (job && ENDED_EARLY.includes(job.status)) return true;
      await new Promise((resolve) => setTimeout(resolve, JOB_PAUSE));
      if (job && !WAITING.includes(job.status)) {
        void this.start();
        return true;
      }
    }
  }
}

/** Returns a promise and the function that resolves it. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}

/** Returns whether a new summary means that the details have changed too. */
export function isStale(before: RunSummary, after: RunSummary): boolean {
  const watched = ["status", "reason", "n_alerts", "best_step", "latest_step", "solved", "confirmed", "note"] as const;
  return watched.some((field) => before[field] !== after[field]) || before.tags.join() !== after.tags.join();
}

/** Returns the model of a run while the component is shown. */
export function useRun(id: string): RunModel {
  const model = useMemo(() => new RunModel(id), [id]);
  useEffect(() => {
    void model.start();
    return () => model.stop();
  }, [model]);
  return model;
}
