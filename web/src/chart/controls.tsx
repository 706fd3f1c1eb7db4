/** Controls that several pages have for their charts. */
import { CLOCKS, type Clock } from "../api/types";
import { clockLabel } from "../ui/numbers";
import { MAX_SMOOTHING } from "./smooth";

export function ClockPicker({ value, onChange }: { value: string; onChange: (clock: Clock) => void }) {
  return (
    <label class="field">
      <span>x axis</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Clock)}>
        {CLOCKS.map((clock) => (
          <option key={clock} value={clock}>
            {clockLabel(clock)}
          </option>
        ))}
      </select>
    </label>
  );
}

export function SmoothingSlider({ value, onChange }: { value: number; onChange: (smoothing: number) => void }) {
  return (
    <label class="field" title="weight of the past in the exponential moving average; the recorded values stay pale behind">
      <span>smoothing</span>
      <input
        type="range"
        min={0}
        max={MAX_SMOOTHING}
        step={0.01}
        value={value}
        aria-valuetext={value === 0 ? "none" : String(value)}
        onInput={(event) => onChange(Number(event.currentTarget.value))}
      />
      <output class="num small muted smoothing-value">{value.toFixed(2)}</output>
    </label>
  );
}

export function LogSwitch({ checked, onChange }: { checked: boolean; onChange: (log: boolean) => void }) {
  return (
    <label class="field">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>log scale</span>
    </label>
  );
}
