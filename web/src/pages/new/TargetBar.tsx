/** What to train: target, variant and algorithm, and what is known about the preset. */

import type { ApiError } from "../../api/client";
import type { PresetSummary, SettingsForm } from "../../api/types";
import { formatDuration, formatInterval, formatNumber, formatShort } from "../../ui/numbers";
import type { Draft } from "./draft";
import { chosenPreset, targetOf } from "./presetList";

interface Props {
  draft: Draft;
  presets: readonly PresetSummary[];
  form: SettingsForm | undefined;
  error: ApiError | undefined;
  onChange: (change: Partial<Draft>) => void;
}

export function TargetBar({ draft, presets, form, error, onChange }: Props) {
  const chosen = chosenPreset(draft.target.trim(), presets);
  return (
    <div class="target-bar">
      <label class="stacked grow">
        Environment or preset
        <input
          class="target-input"
          value={draft.target}
          placeholder="ENV[:variant]"
          spellcheck={false}
          autocomplete="off"
          aria-invalid={error ? true : undefined}
          onInput={(event) => onChange({ target: event.currentTarget.value })}
        />
      </label>
      <label class="stacked">
        Variant
        <select
          value={chosen?.variant ?? ""}
          disabled={!chosen}
          onChange={(event) => chosen && onChange({ target: targetOf(chosen.preset, event.currentTarget.value), algo: "" })}
        >
          {variantNames(chosen).map((variant) => (
            <option key={variant} value={variant}>
              {variant}
            </option>
          ))}
        </select>
      </label>
      <label class="stacked">
        Algorithm
        <select value={draft.algo} disabled={!form} onChange={(event) => onChange({ algo: event.currentTarget.value })}>
          <option value="">of the variant</option>
          {form?.algorithms.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <p class="preset-facts muted">{chosen ? <Facts {...chosen} /> : form?.title}</p>
    </div>
  );
}

/** Variants of the preset; one that the preset does not list, such as an algorithm, is added. */
function variantNames(chosen: { preset: PresetSummary; variant: string } | null): string[] {
  if (!chosen) return [];
  const { preset, variant } = chosen;
  return preset.variants.includes(variant) ? preset.variants : [...preset.variants, variant];
}

function Facts({ preset, variant }: { preset: PresetSummary; variant: string }) {
  const result = preset.results[variant];
  const { published } = preset;
  return (
    <>
      {preset.threshold !== null && <span>solved at {formatNumber(preset.threshold)}</span>}
      {result && (
        <span title={`Stored result of ${result.date}, ${result.seeds} seeds`}>
          stored result {formatInterval(result.mean, result.low ?? Number.NaN, result.high ?? Number.NaN)}, {result.solved} of{" "}
          {result.seeds} seeds solved, {formatShort(result.env_steps)} env steps, {formatDuration(result.seconds)}
        </span>
      )}
      {published && (
        <span title={published.source}>
          published {formatNumber(published.score)}
          {published.algorithm ? ` (${published.algorithm})` : ""}
        </span>
      )}
      {preset.optimum !== null && <span>optimum {formatNumber(preset.optimum)}</span>}
    </>
  );
}
