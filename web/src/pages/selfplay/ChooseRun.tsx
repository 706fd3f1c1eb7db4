/** The page without a run: those that have roles. */
import { useRuns } from "../../api/runs";
import { Link } from "../../app/router";
import { formatAge, formatInterval } from "../../ui/numbers";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { runsWithRoles } from "./players";

export function ChooseRun() {
  const list = useRuns();
  const runs = list.runs.value;
  if (!runs) return list.error.value ? <ErrorState error={list.error.value} /> : <Loading what="the runs" rows={8} />;
  const found = runsWithRoles(runs);
  if (found.length === 0) {
    return (
      <Empty title="No run has roles yet" command="gymnast train tag:selfplay">
        Ratings and cross-play are about runs in which several roles play against each other. They appear here after their first
        evaluation.
      </Empty>
    );
  }
  return (
    <div class="selfplay-choose">
      <h1>Runs with roles</h1>
      <ul>
        {found.map((run) => (
          <li key={run.id}>
            <Link to={`/selfplay/${encodeURIComponent(run.id)}`}>{run.name || run.id}</Link>{" "}
            <span class="muted">
              {run.preset} · {run.status} · {formatAge(Date.now() / 1000 - run.created)} old
              {run.score && ` · win rate of the worst role, ${run.score.role}: ${formatInterval(run.score.mean, run.score.low, run.score.high)}`}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
