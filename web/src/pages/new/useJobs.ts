/** The background jobs, read again and again while the page is visible. */

import { useEffect } from "preact/hooks";
import { read } from "../../api/client";
import { refreshQuery, useQuery, type Query } from "../../api/queries";
import type { JobStatus } from "../../api/types";

const KEY = "jobs";
const EVERY = 3_000;
/** Statuses of a job that does not train yet. */
const WAITING = ["queued", "starting"];

export function useJobs(): Query<JobStatus[]> {
  const jobs = useQuery(KEY, () => read("jobs", {}));
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) refreshJobs();
    }, EVERY);
    return () => clearInterval(timer);
  }, []);
  return jobs;
}

/** Reads the jobs again, after one was started or removed. */
export function refreshJobs(): void {
  refreshQuery(KEY);
}

/** Returns the jobs that wait for their turn, or start, in the order in which they will train. */
export function waitingJobs(jobs: readonly JobStatus[]): JobStatus[] {
  const waiting = jobs.filter((job) => WAITING.includes(job.status));
  return waiting.sort((a, b) => WAITING.indexOf(b.status) - WAITING.indexOf(a.status) || a.created - b.created);
}
