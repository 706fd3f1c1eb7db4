/** The presets by family, with a search field. */

import { useSignal } from "@preact/signals";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { PresetSummary } from "../../api/types";
import { formatNumber } from "../../ui/numbers";
import { ErrorState, Loading } from "../../ui/states";
import { chosenPreset, presetFamilies } from "./presetList";

interface Props {
  target: string;
  onChoose: (preset: PresetSummary) => void;
}

export function usePresets() {
  return useQuery("presets", () => read("presets", {}));
}

export function PresetList({ target, onChoose }: Props) {
  const search = useSignal("");
  const presets = usePresets();
  const all = presets.data.value;
  if (presets.error.value && !all) return <ErrorState error={presets.error.value} retry={presets.refresh} />;
  if (!all) return <Loading what="the presets" rows={20} />;
  const chosen = chosenPreset(target, all)?.preset;
  const families = presetFamilies(all, search.value);
  return (
    <>
      <input
        type="search"
        data-search
        class="preset-search"
        placeholder={`Search ${all.length} presets   /`}
        aria-label="Search presets"
        value={search.value}
        onInput={(event) => (search.value = event.currentTarget.value)}
        onKeyDown={(event) => {
          const first = families[0]?.presets[0];
          if (event.key === "Enter" && !event.ctrlKey && first) onChoose(first);
        }}
      />
      <div class="preset-families">
        {families.map((family) => (
          <section key={family.name} aria-label={family.name}>
            <h2>{family.name}</h2>
            <ul>
              {family.presets.map((preset) => (
                <li key={preset.name}>
                  <button
                    type="button"
                    class="preset"
                    aria-pressed={preset === chosen}
                    title={presetFacts(preset)}
                    onClick={() => onChoose(preset)}
                  >
                    <span class="ellipsis">{preset.name}</span>
                    <span class={preset.problem ? "error-text" : "muted num"}>
                      {preset.problem ? "unreadable" : preset.threshold === null ? "" : formatNumber(preset.threshold)}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </section>
        ))}
        {!families.length && (
          <p class="muted">
            No preset matches. Any environment can be trained: type its id as the target, such as <code>Pusher-v5</code>.
          </p>
        )}
      </div>
    </>
  );
}

function presetFacts(preset: PresetSummary): string {
  if (preset.problem) return preset.problem;
  const facts = [`variants: ${preset.variants.join(", ")}`];
  if (preset.threshold !== null) facts.push(`solved at ${formatNumber(preset.threshold)}`);
  return facts.join("\n");
}
