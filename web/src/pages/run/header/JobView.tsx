/** A job that waits in the queue or starts: there is no run to show yet. */
import { send } from "../../../api/client";
import type { JobStatus } from "../../../api/types";
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import { navigate } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { toast, toastError } from "../../../ui/toast";
import type { RunModel } from "../model";
import { StatusBadge } from "./Header";
import { answerText } from "./answers";
import { explainStatus } from "./states";

export function JobView({ model, job }: { model: RunModel; job: JobStatus }) {
  const state = explainStatus({ ...job, problem: job.words, latestStep: null });
  const log = useQuery(`logs:${job.id}:${job.status}`, () => read("logs", { ref: job.id, last: 40 }));
  const waits = job.status === "queued" || job.status === "starting";
  const cancel = async () => {
    try {
      toast((await send("stop", { ref: job.id })).map(answerText).join(" "));
      navigate("/");
    } catch (error) {
      toastError(error);
    }
    model.refresh();
  };
  return (
    <div class="run-header run-job">
      <div class="run-title">
        <StatusBadge status={job.status} />
        <h1>{job.name || job.id}</h1>
        <code class="run-id">{job.id}</code>
        <span class="run-identity">
          <span>{job.target}</span>
          {job.seed !== null && <span>seed {job.seed}</span>}
        </span>
        {waits && (
          <Button disabledReason={readOnlyReason.value || undefined} onClick={() => void cancel()}>
            {job.status === "queued" ? "Remove from the queue" : "Stop"}
          </Button>
        )}
      </div>
      <p class={`run-state ${state.level}`}>
        {state.text} {waits && "This page continues by itself as soon as it trains."}
      </p>
      {state.commands.map((command) => (
        <p class="run-command" key={command}>
          <code>{command}</code>
          <CopyButton text={command} />
        </p>
      ))}
      {job.words && <pre class="run-log-box">{job.words}</pre>}
      {log.data.value && log.data.value.lines.length > 0 && <pre class="run-log-box">{log.data.value.lines.join("\n")}</pre>}
    </div>
  );
}
