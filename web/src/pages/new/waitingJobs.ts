import type { JobStatus } from "../../api/types";

/** Statuses of a job that does not train yet. */
const WAITING = ["queued", "starting"];

/** Returns the jobs that wait for their turn, or start, in the order in which they will train. */
export function waitingJobs(jobs: readonly JobStatus[]): JobStatus[] {
  const waiting = jobs.filter((job) => WAITING.includes(job.status));
  return waiting.sort((a, b) => WAITING.indexOf(b.status) - WAITING.indexOf(a.status) || a.created - b.created);
}
