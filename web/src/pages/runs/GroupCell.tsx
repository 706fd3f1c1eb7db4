/** The cells of a group in the runs table. */

import type { ComponentChildren } from "preact";
import { send } from "../../api/client";
import { useQuery } from "../../api/queries";
import { formatNumber } from "../../ui/numbers";
import { ScoreText } from "./Cell";
import { meanScore, scoredRuns, type GroupRow } from "./grouping";

/** Returns the content of a cell of the row above the runs of a group. */
export function groupCell(group: GroupRow, column: string, onToggle: (key: string) => void): ComponentChildren {
  if (column === "status") return <Toggle group={group} onToggle={onToggle} />;
  if (column === "name") return <Title group={group} />;
  // Runs that belong to no group have nothing in common that a mean could be about.
  if (column === "score" && group.key) return <GroupScore group={group} />;
  return null;
}

function Toggle({ group, onToggle }: { group: GroupRow; onToggle: (key: string) => void }) {
  return (
    <button
      type="button"
      class="icon-button group-toggle"
      tabIndex={-1}
      aria-expanded={group.open}
      aria-label={`${group.open ? "Hide" : "Show"} the runs of ${group.label || "no group"}`}
      onClick={() => onToggle(group.key)}
    >
      {group.open ? "▾" : "▸"}
    </button>
  );
}

function Title({ group }: { group: GroupRow }) {
  const running = group.runs.filter((run) => run.status === "running").length;
  return (
    <span class="group-title">
      <strong>{group.label || "no group"}</strong>{" "}
      <span class="muted">
        {group.runs.length === 1 ? "1 run" : `${group.runs.length} runs`}
        {running ? `, ${running} running` : ""}
      </span>
    </span>
  );
}

/** Mean score of the finished runs; its interval is that of `gymnast` for the same runs. */
function GroupScore({ group }: { group: GroupRow }) {
  const scored = scoredRuns(group.runs);
  const mean = meanScore(group.runs);
  const ref = scored.map((run) => run.id).join("+");
  const scores = scored.map((run) => run.score?.mean).join();
  const result = useQuery(scored.length > 1 ? `group-score:${ref}:${scores}` : "", () => send("group", { ref }));
  if (mean === null) return null;
  // While the interval of other scores is loading, the one before is still there: it is not shown.
  const answer = result.data.value;
  const isCurrent = answer?.mean != null && Math.abs(answer.mean - mean) <= 1e-9 * Math.max(1, Math.abs(mean));
  const low = isCurrent ? (answer.low ?? Number.NaN) : Number.NaN;
  const high = isCurrent ? (answer.high ?? Number.NaN) : Number.NaN;
  const caveat = scored[0]?.score?.caveat ?? "";
  const title = `Mean score of ${scored.length} finished runs: ${mean}${Number.isNaN(low) ? "" : ` [${low}, ${high}]`}`;
  return (
    <span class={caveat ? "score muted" : "score"} title={caveat ? `${title}, ${caveat}` : title}>
      {scored.length > 1 ? <ScoreText mean={mean} low={low} high={high} /> : <span class="num">{formatNumber(mean)}</span>}
      {caveat && <span class="score-caveat" role="img" aria-label={caveat}>?</span>}
      <span class="solved-mark" />
    </span>
  );
}
