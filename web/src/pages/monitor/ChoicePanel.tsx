/** Chooses the runs: environment, approaches, runs. Nothing chosen means all. */
import type { RunSummary } from "../../api/types";
import { FacetList, type FacetValue } from "../../ui/FacetList";
import { approachOf, type Choice } from "./choice";
import { toggled, type MonitorView } from "./view";

interface Props {
  choice: Choice;
  view: MonitorView;
  onChange: (changes: Partial<MonitorView>) => void;
}

export function ChoicePanel({ choice, view, onChange }: Props) {
  const hasChoice = view.approaches.length > 0 || view.runs.length > 0;
  const toggleApproach = (approach: string) => {
    const approaches = toggled(view.approaches, approach);
    // Runs of approaches that are not shown would be chosen, but not seen.
    const isShown = (id: string) => choice.candidates.some((run) => run.id === id && (approaches.length === 0 || approaches.includes(approachOf(run))));
    onChange({ approaches, runs: view.runs.filter(isShown) });
  };
  return (
    <div class="filters">
      <FacetList
        title="Environment"
        values={choice.envs.map(([env, count]) => facet(env, env, String(count), `The runs of ${env}`))}
        chosen={[choice.env]}
        onToggle={(env) => onChange({ env, approaches: [], runs: [] })}
      />
      <FacetList
        title="Approach"
        values={choice.approaches.map(([approach, count]) => facet(approach, approach, String(count), `The runs of ${approach}`))}
        chosen={view.approaches}
        onToggle={toggleApproach}
      />
      <FacetList
        title="Run"
        values={choice.candidates.map(runFacet)}
        chosen={view.runs}
        onToggle={(id) => onChange({ runs: toggled(view.runs, id) })}
        shown={20}
      />
      {hasChoice && (
        <button type="button" class="link-button" onClick={() => onChange({ approaches: [], runs: [] })}>
          Show all runs of {choice.env}
        </button>
      )}
    </div>
  );
}

function facet(value: string, label: string, detail: string, title: string): FacetValue {
  return { value, label, detail, title };
}

function runFacet(run: RunSummary): FacetValue {
  const seed = run.seed === null ? "" : `seed ${run.seed}`;
  const name = run.name || run.id;
  return facet(run.id, name, seed, [name, run.preset, seed, run.status].filter(Boolean).join(" · "));
}
