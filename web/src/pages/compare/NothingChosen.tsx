/** The page without a selection: how to choose runs, and the groups that could be compared at once. */
import type { RunSummary } from "../../api/types";
import { Link } from "../../app/router";
import { CopyButton } from "../../ui/CopyButton";
import { AddRuns } from "./AddRuns";
import { EMPTY_VIEW, viewPath } from "./view";

const COMMAND = "gymnast train CartPole-v1 --seeds 5 --name base";

interface Props {
  runs: readonly RunSummary[];
  unknown: readonly string[];
  onAdd: (ref: string) => void;
}

export function NothingChosen({ runs, unknown, onAdd }: Props) {
  const proposals = proposedPairs(runs);
  return (
    <div class="state compare-empty">
      <h1>{unknown.length > 0 ? `No run or group is called ${unknown.join(", ")}` : "Choose runs to compare"}</h1>
      <p>
        Search for a run or a group of seeds here, or select runs in <Link to="/">the list</Link> (<kbd>x</kbd>) and press{" "}
        <kbd>c</kbd>.
      </p>
      <AddRuns runs={runs} chosen={new Set()} onAdd={onAdd} />
      {proposals.length > 0 && (
        <div>
          <p>These were trained on the same environment:</p>
          <ul>
            {proposals.map(({ env, refs, labels }) => (
              <li key={refs.join()}>
                <Link to={viewPath({ ...EMPTY_VIEW, refs })}>{labels.join(" against ")}</Link> <span class="muted">{env}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      <p>To learn whether a difference is more than noise, train several seeds of each variant:</p>
      <p class="command">
        <code>{COMMAND}</code> <CopyButton text={COMMAND} />
      </p>
    </div>
  );
}

/** Returns the two newest groups (else runs) of each environment that has two. */
export function proposedPairs(runs: readonly RunSummary[]): { env: string; refs: string[]; labels: string[] }[] {
  const byEnv = new Map<string, Map<string, string>>();
  const sizes = new Map<string, number>();
  for (const run of runs) if (run.group) sizes.set(run.group, (sizes.get(run.group) ?? 0) + 1);
  for (const run of runs) {
    if (run.status === "unreadable") continue;
    const isGroup = run.group !== null && (sizes.get(run.group) ?? 0) > 1;
    const sides = byEnv.get(run.env) ?? new Map<string, string>();
    byEnv.set(run.env, sides.set(isGroup ? run.group! : run.id, isGroup ? run.group! : run.name || run.id));
  }
  return [...byEnv]
    .filter(([, sides]) => sides.size > 1)
    .map(([env, sides]) => ({ env, refs: [...sides.keys()].slice(0, 2), labels: [...sides.values()].slice(0, 2) }))
    .slice(0, 5);
}
