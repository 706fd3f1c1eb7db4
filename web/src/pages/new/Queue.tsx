/** The jobs that wait for their turn, in order, each with a button that removes it from the queue. */

import { useSignal } from "@preact/signals";
import { send } from "../../api/client";
import type { JobStatus } from "../../api/types";
import { readOnlyReason } from "../../app/session";
import { Button } from "../../ui/Button";
import { toast, toastError } from "../../ui/toast";
import "./queue.css";
import { refreshJobs } from "./useJobs";

const SHOWN = 5;

export function Queue({ jobs }: { jobs: JobStatus[] }) {
  const showAll = useSignal(false);
  const shown = showAll.value ? jobs : jobs.slice(0, SHOWN);
  if (!jobs.length) return null;
  return (
    <section class="queue" aria-label="Queue">
      <h2>
        Queue <span class="muted">{jobs.length}</span>
      </h2>
      <ol>
        {shown.map((job) => (
          <li key={job.id}>
            <span class="status-cell queued">
              <span class="status-dot" aria-hidden="true" />
              {job.status}
            </span>
            <span class="ellipsis">{job.name || job.id}</span>
            <span class="muted ellipsis">
              {job.target}
              {job.seed === null ? "" : ` seed ${job.seed}`}
            </span>
            <span class="muted ellipsis">{job.reason}</span>
            <CancelButton job={job} />
          </li>
        ))}
      </ol>
      {jobs.length > SHOWN && (
        <button type="button" class="link-button" aria-expanded={showAll.value} onClick={() => (showAll.value = !showAll.value)}>
          {showAll.value ? "Show fewer" : `Show all ${jobs.length}`}
        </button>
      )}
    </section>
  );
}

function CancelButton({ job }: { job: JobStatus }) {
  const busy = useSignal(false);
  const cancel = async () => {
    busy.value = true;
    try {
      await send("cancel", { ref: job.id });
      toast(`Removed ${job.name || job.id} from the queue.`);
    } catch (error) {
      toastError(error);
    }
    busy.value = false;
    refreshJobs();
  };
  const reason = readOnlyReason.value || (job.status === "queued" ? "" : "It has started: open its run to stop it.");
  return (
    <Button onClick={() => void cancel()} busy={busy.value} disabledReason={reason} aria-label={`Cancel ${job.name || job.id}`}>
      Cancel
    </Button>
  );
}
