/** The list of presets to choose from. */

import type { PresetSummary } from "../../api/types";

export interface Family {
  name: string;
  presets: PresetSummary[];
}

/** Returns the presets with all words of the search in their name, family or variants, by family. */
export function presetFamilies(presets: readonly PresetSummary[], search: string): Family[] {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const families = new Map<string, PresetSummary[]>();
  for (const preset of presets) {
    const text = [preset.name, preset.family, ...preset.variants].join(" ").toLowerCase();
    if (!words.every((word) => text.includes(word))) continue;
    families.set(preset.family, [...(families.get(preset.family) ?? []), preset]);
  }
  return [...families].map(([name, members]) => ({ name, presets: members }));
}

/** Returns the preset and the variant that a target names; null if no preset has its name. */
export function chosenPreset(
  target: string,
  presets: readonly PresetSummary[],
): { preset: PresetSummary; variant: string } | null {
  // Names may contain a colon (`py:module:Class`), so that the longest name that fits is the right one.
  const fitting = presets.filter((preset) => target === preset.name || target.startsWith(`${preset.name}:`));
  const preset = fitting.sort((a, b) => b.name.length - a.name.length)[0];
  return preset ? { preset, variant: target.slice(preset.name.length + 1) || preset.default } : null;
}

/** Returns the target of a variant: the bare name for the one that it refers to. */
export function targetOf(preset: PresetSummary, variant: string): string {
  return variant === preset.default ? preset.name : `${preset.name}:${variant}`;
}
