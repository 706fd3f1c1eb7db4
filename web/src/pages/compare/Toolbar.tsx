/** The settings of the view: x axis, grouping, smoothing, log scale, metrics; and what can be copied. */
import { commandText } from "../../api/command";
import { ClockPicker, LogSwitch, SmoothingSlider } from "../../chart/controls";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { compareArguments } from "./results";
import type { Side } from "./sides";
import type { CompareView, Grouping } from "./view";

const GROUPINGS: readonly [Grouping, string][] = [
  ["seed", "groups of seeds"],
  ["variant", "variants"],
  ["none", "single runs"],
];

function compareCommand(sides: readonly Side[], baseline: string, view: CompareView): string {
  const { refs, x } = compareArguments(sides, baseline, view.x);
  return commandText({ command: "compare", words: refs, options: { x } });
}

interface Props {
  view: CompareView;
  sides: readonly Side[];
  baseline: string;
  onChange: (changes: Partial<CompareView>, options?: { push?: boolean }) => void;
  onPickMetrics: () => void;
}

export function Toolbar({ view, sides, baseline, onChange, onPickMetrics }: Props) {
  return (
    <div class="toolbar compare-toolbar" role="group" aria-label="View">
      <ClockPicker value={view.x} onChange={(x) => onChange({ x, zoom: null }, { push: true })} />
      <label class="field">
        <span>as</span>
        <select
          aria-label="Put runs together as"
          value={view.grouping}
          onChange={(event) => onChange({ grouping: event.currentTarget.value as Grouping }, { push: true })}
        >
          {GROUPINGS.map(([grouping, label]) => (
            <option key={grouping} value={grouping}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <SmoothingSlider value={view.smoothing} onChange={(smoothing) => onChange({ smoothing })} />
      <LogSwitch checked={view.log} onChange={(log) => onChange({ log })} />
      <Button onClick={onPickMetrics} title="Choose the metrics of the charts (m)">
        Metrics…
      </Button>
      {view.zoom && <Button onClick={() => onChange({ zoom: null })}>Whole range</Button>}
      <span class="toolbar-space" />
      {sides.length > 1 && (
        <CopyButton text={compareCommand(sides, baseline, view)} label="Copy as CLI command" />
      )}
      <CopyButton text={() => location.href} label="Copy link" />
    </div>
  );
}
