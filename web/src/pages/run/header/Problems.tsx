/** Pages of runs that cannot be shown: damaged ones, and ones that do not exist. */
import type { ApiError } from "../../../api/client";
import type { RunSummary } from "../../../api/types";
import { Link } from "../../../app/router";
import { CopyButton } from "../../../ui/CopyButton";
import { Empty, ErrorState } from "../../../ui/states";
import { StatusBadge } from "./Header";
import { explainStatus } from "./states";

export function Unreadable({ run }: { run: RunSummary }) {
  const state = explainStatus({ ...run, latestStep: null });
  return (
    <div class="run-header run-job">
      <div class="run-title">
        <StatusBadge status={run.status} />
        <h1>{run.name || run.id}</h1>
      </div>
      <p class="run-state error" role="alert">
        {state.text}
      </p>
      <p class="muted">{run.path}</p>
      <p>
        Other runs are not affected. If you have a copy of its directory, restore it; else delete it, or look at what is
        left:
      </p>
      {state.commands.map((command) => (
        <p class="run-command" key={command}>
          <code>{command}</code>
          <CopyButton text={command} />
        </p>
      ))}
      <p>
        <Link to="/">All runs</Link>
      </p>
    </div>
  );
}

export function Missing({ id, error, retry }: { id: string; error: ApiError; retry: () => void }) {
  if (error.status !== 404) return <ErrorState error={error} retry={retry} height={400} />;
  return (
    <Empty title={`There is no run ${id}`} height={400} command="gymnast runs">
      {error.message}. It may have been deleted, or be in another runs directory. <Link to="/">All runs</Link>
    </Empty>
  );
}
