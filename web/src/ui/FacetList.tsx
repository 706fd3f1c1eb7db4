/** A list of values to choose from, such as the environments of runs. Several may be chosen; none means all. */
import { useSignal } from "@preact/signals";

export interface FacetValue {
  value: string;
  label: string;
  /** Shown at the side: how many there are, or a status. */
  detail: string;
  title: string;
}

interface Props {
  title: string;
  values: readonly FacetValue[];
  /** The values that are chosen. */
  chosen: readonly string[];
  onToggle: (value: string) => void;
  /** Number of values before the rest is folded. */
  shown?: number;
}

export function FacetList({ title, values, chosen, onToggle, shown = 8 }: Props) {
  const showAll = useSignal(false);
  const listed = showAll.value ? values : values.filter(({ value }, i) => i < shown || chosen.includes(value));
  if (!values.length) return null;
  return (
    <section class="facet" aria-label={title}>
      <h2>{title}</h2>
      <ul>
        {listed.map(({ value, label, detail, title: text }) => (
          <li key={value}>
            <button
              type="button"
              class="facet-value"
              aria-pressed={chosen.includes(value)}
              title={text}
              onClick={() => onToggle(value)}
            >
              <span class="ellipsis">{label}</span>
              <span class="muted">{detail}</span>
            </button>
          </li>
        ))}
      </ul>
      {values.length > shown && (
        <button type="button" class="link-button" aria-expanded={showAll.value} onClick={() => (showAll.value = !showAll.value)}>
          {showAll.value ? "Show fewer" : `Show all ${values.length}`}
        </button>
      )}
    </section>
  );
}
