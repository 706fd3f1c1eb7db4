/** The settings of the view: x axis, grouping, smoothing, log scale, metrics; and what can be copied. */
import { commandText } from "../../api/command";
import { CLOCKS } from "../../api/types";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { clockLabel } from "../../ui/numbers";
import { compareArguments } from "./results";
import type { Side } from "./sides";
import { MAX_SMOOTHING, type CompareView, type Grouping } from "./view";

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
      <label class="field">
        <span>x axis</span>
        <select value={view.x} onChange={(event) => onChange({ x: event.currentTarget.value, zoom: null }, { push: true })}>
          {CLOCKS.map((clock) => (
            <option key={clock} value={clock}>
              {clockLabel(clock)}
            </option>
          ))}
        </select>
      </label>
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
      <label class="field">
        <span>smoothing</span>
        <input
          type="range"
          min="0"
          max={MAX_SMOOTHING}
          step="0.01"
          value={view.smoothing}
          aria-valuetext={view.smoothing === 0 ? "none" : String(view.smoothing)}
          onInput={(event) => onChange({ smoothing: Number(event.currentTarget.value) })}
        />
        <output class="num small muted">{view.smoothing.toFixed(2)}</output>
      </label>
      <label class="field">
        <input type="checkbox" checked={view.log} onChange={() => onChange({ log: !view.log })} />
        <span>log scale</span>
      </label>
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
