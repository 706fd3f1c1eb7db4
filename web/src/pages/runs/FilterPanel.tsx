/** Values to filter by, with how many runs have them, and the grouping. Each value is a word of the filter. */

import { useMemo } from "preact/hooks";
import type { RunSummary } from "../../api/types";
import { FacetList } from "../../ui/FacetList";
import { STATUS_ORDER } from "./columns";
import { countValues, type Facet } from "./grouping";
import { GROUPINGS, type Grouping } from "./view";
import { toggleWord, wordValues } from "./words";

interface Props {
  runs: readonly RunSummary[];
  filter: string;
  onFilter: (filter: string) => void;
  grouping: Grouping;
  onGrouping: (grouping: Grouping) => void;
}

interface FacetKind {
  title: string;
  /** The field of the filter. */
  field: string;
  values: (run: RunSummary) => readonly string[];
  /** Whether a run may have several values. */
  several?: boolean;
}

const FACETS: readonly FacetKind[] = [
  { title: "Status", field: "status", values: (run) => [run.status] },
  { title: "Environment", field: "env", values: (run) => [run.env] },
  { title: "Variant", field: "variant", values: (run) => [run.variant] },
  { title: "Tags", field: "tag", values: (run) => run.tags, several: true },
];
const GROUPING_LABELS: Record<Grouping, string> = {
  none: "nothing",
  environment: "environment",
  variant: "variant",
  seeds: "seed group",
};

export function FilterPanel({ runs, filter, onFilter, grouping, onGrouping }: Props) {
  return (
    <div class="filters">
      <fieldset class="group-by">
        <legend>Group by</legend>
        {GROUPINGS.map((value) => (
          <label key={value}>
            <input type="radio" name="grouping" checked={grouping === value} onChange={() => onGrouping(value)} />
            {GROUPING_LABELS[value]}
          </label>
        ))}
      </fieldset>
      {FACETS.map((facet) => (
        <RunFacet key={facet.field} facet={facet} runs={runs} filter={filter} onFilter={onFilter} />
      ))}
    </div>
  );
}

interface FacetProps {
  facet: FacetKind;
  runs: readonly RunSummary[];
  filter: string;
  onFilter: (filter: string) => void;
}

function RunFacet({ facet, runs, filter, onFilter }: FacetProps) {
  const counted = useMemo(() => countValues(runs, facet.values), [runs]);
  const facets = facet.field === "status" ? byStatus(counted) : counted;
  return (
    <FacetList
      title={facet.title}
      values={facets.map(({ value, count }) => ({ value, label: value, detail: String(count), title: `${facet.field}=${value}` }))}
      chosen={wordValues(filter, facet.field)}
      onToggle={(value) => onFilter(toggleWord(filter, facet.field, value, facet.several))}
    />
  );
}

function byStatus(facets: readonly Facet[]): Facet[] {
  const rank = (facet: Facet): number => (STATUS_ORDER.indexOf(facet.value) + STATUS_ORDER.length + 1) % (STATUS_ORDER.length + 1);
  return [...facets].sort((a, b) => rank(a) - rank(b));
}
