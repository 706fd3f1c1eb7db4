/** The background jobs, read again and again while the page is visible. */

import { useEffect } from "preact/hooks";
import { read } from "../../api/client";
import { refreshQuery, useQuery, type Query } from "../../api/queries";
import type { JobStatus } from "../../api/types";

const KEY = "jobs";
const EVERY = 3_000;

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
