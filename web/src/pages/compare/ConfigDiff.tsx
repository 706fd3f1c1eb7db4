/** The settings that differ between the sides. */
import type { Comparison } from "../../api/types";
import { CopyButton } from "../../ui/CopyButton";
import { configCsv } from "./export";

interface Props {
  comparison: Comparison;
  /** Names of the columns: the sides, or every run if no side is a group. */
  names: readonly string[];
  /** Column that the others are compared with. */
  baseline: number;
}

export function ConfigDiff({ comparison, names, baseline }: Props) {
  if (comparison.config_problem) return <p class="small">The configs cannot be compared: {comparison.config_problem}</p>;
  if (comparison.config.length === 0) return <p class="small muted">All settings are the same.</p>;
  return (
    <>
      <div class="compare-scroll" tabIndex={0} role="region" aria-label="Settings that differ">
        <table class="compare-table compare-config">
          <thead>
            <tr>
              <th scope="col">setting</th>
              {names.map((name, i) => (
                <th key={i} scope="col" title={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {comparison.config.map((entry) => (
              <tr key={entry.key}>
                <th scope="row">{entry.key}</th>
                {entry.values.map((value, i) => {
                  const differs = i !== baseline && value !== entry.values[baseline];
                  return (
                    <td key={i} class={differs ? "number differs" : "number"}>
                      {valueText(value)}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="compare-copy">
        <CopyButton text={() => configCsv(comparison, names)} label="Copy settings as CSV" what="the settings" />
      </div>
    </>
  );
}

function valueText(value: boolean | number | string | null): string {
  return value === null ? "none" : String(value);
}
