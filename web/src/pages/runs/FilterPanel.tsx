/** Values to filter by, with how many runs have them, and the grouping. Each value is a word of the filter. */

import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import type { RunSummary } from "../../api/types";
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
const SHOWN = 8;

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
        <FacetList key={facet.field} facet={facet} runs={runs} filter={filter} onFilter={onFilter} />
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

function FacetList({ facet, runs, filter, onFilter }: FacetProps) {
  const showAll = useSignal(false);
  const counted = useMemo(() => countValues(runs, facet.values), [runs]);
  const facets = facet.field === "status" ? byStatus(counted) : counted;
  const chosen = wordValues(filter, facet.field);
  const shown = showAll.value ? facets : facets.filter((entry, i) => i < SHOWN || chosen.includes(entry.value));
  if (!facets.length) return null;
  return (
    <section class="facet" aria-label={facet.title}>
      <h2>{facet.title}</h2>
      <ul>
        {shown.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              class="facet-value"
              aria-pressed={chosen.includes(value)}
              title={`${facet.field}=${value}`}
              onClick={() => onFilter(toggleWord(filter, facet.field, value, facet.several))}
            >
              <span class="ellipsis">{value}</span>
              <span class="muted">{count}</span>
            </button>
          </li>
        ))}
      </ul>
      {facets.length > SHOWN && (
        <button type="button" class="link-button" aria-expanded={showAll.value} onClick={() => (showAll.value = !showAll.value)}>
          {showAll.value ? "Show fewer" : `Show all ${facets.length}`}
        </button>
      )}
    </section>
  );
}

function byStatus(facets: readonly Facet[]): Facet[] {
  const rank = (facet: Facet): number => (STATUS_ORDER.indexOf(facet.value) + STATUS_ORDER.length + 1) % (STATUS_ORDER.length + 1);
  return [...facets].sort((a, b) => rank(a) - rank(b));
}
