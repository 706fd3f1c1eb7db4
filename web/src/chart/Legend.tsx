/** Legends of charts: labels at the ends of lines, or a list below with values at the crosshair. */
import { useComputed, type ReadonlySignal } from "@preact/signals";
import type { LegendEntry, PlotBox, PlotModel } from "./model";
import { spread } from "./view";

const LINE = 13;

/** A piece of line in the color and dash of a series. */
export function Swatch({ color, dash }: { color: string; dash?: number[] | undefined }) {
  return (
    <svg class="swatch" width="16" height="8" aria-hidden="true">
      <line x1="0" x2="16" y1="4" y2="4" stroke={color} stroke-width="2" stroke-dasharray={dash?.join(" ")} />
    </svg>
  );
}

/** Labels at the right end of lines. */
export function EndLabels({ model, box, gutter }: { model: PlotModel; box: PlotBox; gutter: number }) {
  const entries = new Map(model.legend.map((entry) => [entry.key, entry]));
  const ends = model.ends?.(box.view) ?? [];
  const centers = ends.map(({ y }) => Math.max(0, Math.min(box.height, box.toY(y) - box.top)));
  const placed = spread(centers, LINE, box.height);
  return (
    <div
      class="end-labels"
      aria-hidden="true"
      style={{ left: `${box.left + box.width + 4}px`, top: `${box.top}px`, width: `${gutter - 4}px` }}
    >
      {ends.map(({ key }, i) => {
        const entry = entries.get(key);
        if (!entry) return null;
        return (
          <span key={key} title={entry.label} style={{ top: `${(placed[i] ?? 0) - LINE / 2}px`, color: entry.color }}>
            {entry.label}
          </span>
        );
      })}
    </div>
  );
}

interface ListProps {
  entries: LegendEntry[];
  model: ReadonlySignal<PlotModel>;
  cursor: ReadonlySignal<number | null>;
  hidden: ReadonlySet<string>;
  onToggle: ((key: string) => void) | undefined;
  onEmphasize: (key: string) => void;
}

/** The list below a chart. A click hides or shows a series. */
export function LegendList({ entries, model, cursor, hidden, onToggle, onEmphasize }: ListProps) {
  const values = useComputed(() => readingTexts(model.value, cursor.value));
  return (
    <ul class="legend" aria-label="Legend">
      {entries.map(({ key, label, color, dash }) => (
        <li key={key}>
          <button
            type="button"
            aria-pressed={onToggle ? !hidden.has(key) : undefined}
            class={hidden.has(key) ? "off" : undefined}
            title={onToggle ? `${label}: hide or show` : label}
            onClick={() => onToggle?.(key)}
            onPointerEnter={() => onEmphasize(key)}
            onPointerLeave={() => onEmphasize("")}
          >
            <Swatch color={color} dash={dash} />
            <span class="legend-label">{label}</span>
            <span class="legend-value">{values.value.get(key) ?? ""}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

/** Returns the formatted values of each series (at most `limit`) at the crosshair, or the last ones. */
export function readingTexts(model: PlotModel, x: number | null, limit = Infinity): Map<string, string> {
  const position = x ?? model.xRange?.[1];
  if (position === undefined) return new Map();
  return new Map(
    model.readings(position).slice(0, limit).map(({ key, value }) => [key, value === null ? "-" : model.format(value)]),
  );
}
