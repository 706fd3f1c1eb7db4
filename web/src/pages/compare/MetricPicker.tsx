/** The dialog in which the metrics of the charts are chosen, by section of the catalogue. */
import { useSignal } from "@preact/signals";
import type { MetricInfo } from "../../api/types";
import { Dialog } from "../../ui/Dialog";
import { EVALUATION_RETURN, pickerSections, scopeTitle, type PickerMetric } from "./keys";

interface Props {
  /** Keys that the runs recorded. */
  known: ReadonlySet<string>;
  catalogue: readonly MetricInfo[];
  chosen: readonly string[];
  onChange: (keys: string[]) => void;
  onClose: () => void;
}

export function MetricPicker({ known, catalogue, chosen, onChange, onClose }: Props) {
  const search = useSignal("");
  const sections = pickerSections(known, catalogue, search.value);
  const marked = new Set(chosen);
  const toggle = (key: string) =>
    onChange(marked.has(key) ? chosen.filter((other) => other !== key) : [...chosen, key]);
  return (
    <Dialog title="Metrics of the charts" onClose={onClose} className="metric-picker">
      <div class="metric-picker-head">
        <input
          type="search"

          autofocus
          placeholder="Search names, meanings and roles"
          aria-label="Search metrics"
          value={search.value}
          onInput={(event) => (search.value = event.currentTarget.value)}
        />
        <button type="button" class="button" onClick={() => onChange([])} title="Evaluation return and the usual metrics of training">
          Default choice
        </button>
      </div>
      <div class="metric-picker-list">
        {sections.map(({ section, metrics }) => (
          <fieldset key={section}>
            <legend>{section}</legend>
            {metrics.map((metric) => (
              <PickerRow key={metric.name} metric={metric} marked={marked} onToggle={toggle} />
            ))}
          </fieldset>
        ))}
        {sections.length === 0 && <p class="muted">None of these runs recorded such a metric.</p>}
      </div>
    </Dialog>
  );
}

function PickerRow(props: { metric: PickerMetric; marked: ReadonlySet<string>; onToggle: (key: string) => void }) {
  const { metric, marked, onToggle } = props;
  const hint = metric.info ? `${metric.info.meaning}${metric.info.unit ? ` [${metric.info.unit}]` : ""}` : undefined;
  return (
    <div class="metric-picker-row" title={hint}>
      <span class="metric-picker-name">{metric.name}</span>
      <span class="metric-picker-keys">
        {metric.keys.map(({ key, scope }) => (
          <label key={key} class="chip">
            <input
              type="checkbox"
              checked={marked.has(key)}
              disabled={key === EVALUATION_RETURN}
              aria-label={`${metric.name}, ${scopeTitle(scope)}`}
              onChange={() => onToggle(key)}
            />
            {scopeTitle(scope)}
          </label>
        ))}
      </span>
      <span class="metric-picker-meaning muted small">{metric.info?.meaning}</span>
    </div>
  );
}
