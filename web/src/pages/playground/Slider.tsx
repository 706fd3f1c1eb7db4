/** A number that is set by a slider, with its meaning below. */
import { useId } from "preact/hooks";

interface Props {
  label: string;
  /** Letter of the number in formulas. */
  symbol?: string;
  /** One or two sentences. */
  help?: string;
  value: number;
  range: readonly [low: number, high: number];
  step: number;
  /** The value as text; the number itself if missing. */
  text?: string;
  onChange: (value: number) => void;
}

export function Slider({ label, symbol, help, value, range, step, text, onChange }: Props) {
  const id = useId();
  const shown = text ?? String(value);
  return (
    <div class="playground-slider">
      <label for={id}>
        {label} {symbol && <i class="muted">{symbol}</i>}
      </label>
      <output for={id} class="num">
        {shown}
      </output>
      <input
        id={id}
        type="range"
        min={range[0]}
        max={range[1]}
        step={step}
        value={value}
        aria-valuetext={text}
        aria-describedby={help ? `${id}-help` : undefined}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
      {help && (
        <p id={`${id}-help`} class="muted small">
          {help}
        </p>
      )}
    </div>
  );
}

interface NumberProps {
  label: string;
  value: number;
  range: readonly [low: number, high: number];
  step?: number;
  onChange: (value: number) => void;
}

/** A number that is typed; one outside of its range is moved to it. */
export function NumberField({ label, value, range: [low, high], step = 1, onChange }: NumberProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="number"
        min={low}
        max={high}
        step={step}
        value={value}
        onChange={(event) => {
          const typed = event.currentTarget.valueAsNumber;
          const next = Number.isFinite(typed) ? Math.min(high, Math.max(low, typed)) : value;
          event.currentTarget.value = String(next);
          if (next !== value) onChange(next);
        }}
      />
    </label>
  );
}
