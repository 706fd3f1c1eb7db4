/** The algorithm, how it updates, and its numbers. */
import { NumberField, Slider } from "../Slider";
import { ALGORITHM_NAMES, ALGORITHMS, USED, withAlgorithm, type Settings } from "./settings";
import type { GridStore } from "./store";
import { BASELINE_HELP, EXPLANATIONS, NUMBER_TEXTS } from "./texts";
import { LIMITS } from "./view";

export function AlgorithmPanel({ store }: { store: GridStore }) {
  const { settings } = store.view.value;
  const explanation = EXPLANATIONS[settings.algorithm];
  const change = (changes: Partial<Settings>) => store.setSettings({ ...store.view.peek().settings, ...changes });
  return (
    <section class="playground-section" aria-label="Algorithm">
      <h2>Algorithm</h2>
      <fieldset class="playground-segments">
        <legend class="visually-hidden">Algorithm</legend>
        {ALGORITHMS.map((algorithm) => (
          <label key={algorithm} class="playground-segment">
            <input
              type="radio"
              name="algorithm"
              checked={settings.algorithm === algorithm}
              onChange={() => store.setSettings(withAlgorithm(store.view.peek().settings, algorithm))}
            />
            <span>{ALGORITHM_NAMES[algorithm]}</span>
          </label>
        ))}
      </fieldset>
      <p class="small">{explanation.text}</p>
      <p class="playground-formula">{explanation.formula}</p>
      <p class="muted small">{explanation.legend}</p>
      {USED[settings.algorithm].map((name) => (
        <Slider
          key={name}
          {...NUMBER_TEXTS[name]}
          value={settings[name]}
          range={LIMITS[name]}
          step={0.01}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
      {settings.algorithm === "reinforce" && (
        <label class="playground-check">
          <input type="checkbox" checked={settings.baseline} onChange={(event) => change({ baseline: event.currentTarget.checked })} />
          <span>
            Baseline <span class="muted small">{BASELINE_HELP}</span>
          </span>
        </label>
      )}
      {settings.algorithm !== "value_iteration" && <NumberField label="Seed" value={settings.seed} range={LIMITS.seed} onChange={(seed) => change({ seed: Math.round(seed) })} />}
    </section>
  );
}
