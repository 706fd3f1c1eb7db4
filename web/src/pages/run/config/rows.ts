/** The settings of a run as rows of a table, and as YAML or overrides to copy. */
import { quoted } from "../../../api/command";
import type { ConfigDifference, Settings } from "../../../api/types";
import { plainValue, yamlValue } from "../parts/text";

export interface ConfigRow {
  key: string;
  section: string;
  value: unknown;
  /** Where the value came from. */
  origin: string;
  /** Whether it is not a default. */
  changed: boolean;
  /** The value on the other side of the comparison, if it differs. */
  other: { value: unknown } | undefined;
}

export interface RowFilter {
  text: string;
  onlyChanged: boolean;
  /** Differences to another config: only these rows are shown. */
  differences: readonly ConfigDifference[] | undefined;
}

/** Origins of values that nobody chose for this run. */
const DEFAULTS = /^default/;

/** Returns the rows that match; settings that only the other side has are included in a comparison. */
export function configRows(settings: Settings, filter: RowFilter): ConfigRow[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  const differing = filter.differences && new Map(filter.differences.map((found) => [found.key, found.b]));
  const keys = Object.keys(settings.values);
  if (differing) keys.push(...[...differing.keys()].filter((key) => !(key in settings.values)));
  return keys
    .map((key): ConfigRow => {
      const origin = settings.provenance[key] ?? (key in settings.values ? "default" : "");
      return {
        key,
        section: key.includes(".") ? key.slice(0, key.indexOf(".")) : "run",
        value: settings.values[key],
        origin,
        changed: origin !== "" && !DEFAULTS.test(origin),
        other: differing?.has(key) ? { value: differing.get(key) } : undefined,
      };
    })
    .filter((row) => (!differing || row.other) && (!filter.onlyChanged || row.changed))
    .filter((row) => {
      const text = `${row.key} ${plainValue(row.value)} ${row.origin}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
}

/** Returns the settings as nested YAML, in the order of the config. */
export function asYaml(rows: readonly Pick<ConfigRow, "key" | "value">[]): string {
  const lines: string[] = [];
  let open: string[] = [];
  for (const { key, value } of rows) {
    const path = key.split(".");
    const name = path.pop()!;
    let shared = 0;
    while (shared < path.length && path[shared] === open[shared]) shared++;
    for (let depth = shared; depth < path.length; depth++) lines.push(`${"  ".repeat(depth)}${path[depth]}:`);
    lines.push(`${"  ".repeat(path.length)}${name}: ${yamlValue(value)}`);
    open = path;
  }
  return `${lines.join("\n")}\n`;
}

/** Returns the settings as options of `gymnast train`, quoted for a shell. */
export function asOverrides(rows: readonly Pick<ConfigRow, "key" | "value">[]): string {
  return rows.map(({ key, value }) => `--set ${quoted(`${key}=${yamlValue(value)}`)}`).join(" ");
}
