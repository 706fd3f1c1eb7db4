/** The settings that differ between the sides. */
import { CopyButton } from "../../ui/CopyButton";
import { configCsv, settingText, type SettingRow, type SideConfig } from "./config";

interface Props {
  config: SideConfig;
  /** The reason why the configs cannot be compared; null if they can. */
  problem: string | null;
  /** Reference of the side that the others are compared with. */
  baseline: string;
}

export function ConfigDiff({ config, problem, baseline }: Props) {
  if (problem) return <p class="small">The configs cannot be compared: {problem}</p>;
  const { settings, facts } = config;
  if (settings.length === 0 && facts.length === 0) return <p class="small muted">All settings are the same.</p>;
  return (
    <>
      {settings.length > 0 && <SettingTable label="Settings that differ" rows={settings} config={config} baseline={baseline} />}
      {facts.length > 0 && (
        <details>
          <summary class="small">
            {facts.length} {facts.length === 1 ? "fact" : "facts"} about the environments
          </summary>
          <SettingTable label="Facts about the environments" rows={facts} config={config} baseline={baseline} />
        </details>
      )}
      <div class="compare-copy">
        <CopyButton text={() => configCsv(config)} label="Copy settings as CSV" what="the settings" />
      </div>
    </>
  );
}

interface TableProps {
  label: string;
  rows: readonly SettingRow[];
  config: SideConfig;
  baseline: string;
}

function SettingTable({ label, rows, config, baseline }: TableProps) {
  const reference = Math.max(config.sides.findIndex((side) => side.ref === baseline), 0);
  return (
    <div class="compare-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="compare-table">
        <thead>
          <tr>
            <th scope="col">setting</th>
            {config.sides.map((side) => (
              <th key={side.ref} scope="col" title={side.label}>
                {side.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, values }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              {values.map((value, i) => (
                <td key={i} class={i !== reference && value !== values[reference] ? "differs" : undefined} title={settingText(value)}>
                  {settingText(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
