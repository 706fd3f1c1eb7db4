/** The settings that differ, by side, in the order of the page. */
import type { Comparison } from "../../api/types";
import { csv } from "./export";
import type { Side } from "./sides";

export type Setting = boolean | number | string | null;

export interface SettingRow {
  key: string;
  values: Setting[];
}

export interface SideConfig {
  sides: readonly Side[];
  settings: SettingRow[];
  /** Facts about the environments, which differ if the environments do; nobody chose them. */
  facts: SettingRow[];
}

const FACTS = "facts.";

/** Returns the differing settings with one value per side. The record has a value per group or, if no side is a
 * group, per run, in the order of the request. */
export function configBySide(comparison: Comparison, sides: readonly Side[]): SideConfig {
  const hasGroups = comparison.groups.length > 0;
  const names = hasGroups ? comparison.groups.map((group) => group.name) : comparison.runs.map((run) => run.id);
  const places = new Map(names.map((name, index) => [name, index]));
  const known = sides.filter((side) => places.has(side.ref));
  const rows = comparison.config.map(({ key, values }) => ({
    key,
    values: known.map((side) => values[places.get(side.ref)!] ?? null),
  }));
  return {
    sides: known,
    settings: rows.filter((row) => !row.key.startsWith(FACTS)),
    facts: rows.filter((row) => row.key.startsWith(FACTS)),
  };
}

export function configCsv({ sides, settings, facts }: SideConfig): string {
  const head = ["setting", ...sides.map((side) => side.label)];
  return csv([head, ...[...settings, ...facts].map(({ key, values }) => [key, ...values.map(settingText)])]);
}

export function settingText(value: Setting): string {
  return value === null ? "none" : String(value);
}
