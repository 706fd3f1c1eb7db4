/** The world: a preset, what is drawn, and the rules. */
import type { Signal } from "@preact/signals";
import { Button } from "../../../ui/Button";
import { NumberField, Slider } from "../Slider";
import { BRUSHES, type Brush } from "./brushes";
import { PRESETS } from "./presets";
import type { GridStore } from "./store";
import { LIMITS, presetOf, withPreset } from "./view";
import { cleared, MAX_COLUMNS, MAX_REWARD, MAX_ROWS, MIN_SIZE, resized, type World } from "./world";

const REWARDS = [-MAX_REWARD, MAX_REWARD] as const;
const DRAWN_TEXT = "Your own world. Its address contains everything: copy it to share the world.";

interface Props {
  store: GridStore;
  brush: Signal<Brush>;
  /** Whether the wind is shown below the board, to be changed there. */
  hasWind: Signal<boolean>;
}

export function WorldPanel({ store, brush, hasWind }: Props) {
  const { world } = store.view.value;
  const preset = presetOf(world);
  const isWindy = world.wind.some((strength) => strength > 0);
  const setWind = (isOn: boolean) => {
    hasWind.value = isOn;
    if (!isOn && isWindy) change({ wind: world.wind.map(() => 0) });
  };
  const change = (changes: Partial<World>) => store.setWorld({ ...store.view.peek().world, ...changes });
  return (
    <section class="playground-section" aria-label="World">
      <h2>World</h2>
      <select
        aria-label="Preset"
        value={preset?.key ?? ""}
        onChange={(event) => {
          const chosen = PRESETS.find((one) => one.key === event.currentTarget.value);
          if (chosen) store.open(withPreset(store.view.peek(), chosen));
        }}
      >
        {!preset && <option value="">Your own</option>}
        {PRESETS.map(({ key, name }) => (
          <option key={key} value={key}>
            {name}
          </option>
        ))}
      </select>
      <p class="small">{preset?.text ?? DRAWN_TEXT}</p>
      <Brushes brush={brush} />
      <Slider
        label="Slip"
        symbol="p"
        help="Probability that a move goes to one of the two sides instead."
        value={world.slip}
        text={`${Math.round(world.slip * 100)} %`}
        range={LIMITS.slip}
        step={0.05}
        onChange={(slip) => change({ slip })}
      />
      <div class="playground-fields">
        <NumberField label="Step reward" value={world.stepReward} range={LIMITS.stepReward} step={0.01} onChange={(stepReward) => change({ stepReward })} />
        <NumberField label="Step limit" value={world.maxSteps} range={LIMITS.maxSteps} onChange={(maxSteps) => change({ maxSteps: Math.round(maxSteps) })} />
        <NumberField label="Rows" value={world.rows} range={[MIN_SIZE, MAX_ROWS]} onChange={(rows) => store.setWorld(resized(world, Math.round(rows), world.columns))} />
        <NumberField label="Columns" value={world.columns} range={[MIN_SIZE, MAX_COLUMNS]} onChange={(columns) => store.setWorld(resized(world, world.rows, Math.round(columns)))} />
      </div>
      <label class="playground-check">
        <input type="checkbox" checked={!world.pitEnds} onChange={(event) => change({ pitEnds: !event.currentTarget.checked })} />
        <span>Pits lead back to the start instead of ending the episode</span>
      </label>
      <label class="playground-check">
        <input type="checkbox" checked={hasWind.value || isWindy} onChange={(event) => setWind(event.currentTarget.checked)} />
        <span>Wind can be set below the columns of the board</span>
      </label>
      <p class="muted small">
        A goal ends the episode (terminated). At the step limit it is cut off (truncated): the value behind it still counts.
      </p>
    </section>
  );
}

function Brushes({ brush }: { brush: Signal<Brush> }) {
  const { kind, goal, pit } = brush.value;
  const set = (changes: Partial<Brush>) => (brush.value = { ...brush.peek(), ...changes });
  return (
    <fieldset class="playground-brushes">
      <legend class="small">Draw on the board, also while it learns</legend>
      <div class="playground-segments">
        {BRUSHES.map((one) => (
          <label key={one.kind} class={`playground-segment ${one.kind}`}>
            <input type="radio" name="brush" checked={kind === one.kind} onChange={() => set({ kind: one.kind })} />
            <span>{one.label}</span>
          </label>
        ))}
      </div>
      <div class="playground-fields">
        <NumberField label="Goal reward" value={goal} range={REWARDS} step={0.1} onChange={(value) => set({ goal: value, kind: "goal" })} />
        <NumberField label="Pit reward" value={pit} range={REWARDS} step={0.1} onChange={(value) => set({ pit: value, kind: "pit" })} />
      </div>
    </fieldset>
  );
}

export function ClearButton({ store }: { store: GridStore }) {
  return (
    <Button onClick={() => store.setWorld(cleared(store.view.peek().world))} title="Remove walls, goals, pits and wind">
      Clear the board
    </Button>
  );
}
