/** Every setting of a run with its origin, and its difference to the parent, the preset or another run. */
import { useSignal } from "@preact/signals";
import { read } from "../../../api/client";
import { commandText } from "../../../api/command";
import { useQuery } from "../../../api/queries";
import { route, setParams } from "../../../app/router";
import { CopyButton } from "../../../ui/CopyButton";
import { ErrorState, Loading } from "../../../ui/states";
import { Table, type Column } from "../../../ui/Table";
import type { TabProps } from "../parts/lazyTab";
import { counted, plainValue } from "../parts/text";
import { asOverrides, asYaml, configRows, type ConfigRow } from "./rows";

export default function ConfigTab({ details }: TabProps) {
  const { params } = route.value;
  const against = params.get("diff") ?? "";
  const filter = params.get("setting") ?? "";
  const onlyChanged = params.get("changed") === "1";
  const live = Object.keys(details.live).length;
  const settings = useQuery(`config:${details.id}:${live}`, () => read("config_show", { name: details.id }));
  const diff = useQuery(against ? `diff:${details.id}:${against}:${live}` : "", () =>
    read("config_diff", { a: details.id, b: against }),
  );
  if (settings.error.value && !settings.data.value) return <ErrorState error={settings.error.value} retry={settings.refresh} />;
  if (!settings.data.value) return <Loading what="the settings" rows={16} />;
  const differences = against && !diff.error.value ? diff.data.value : undefined;
  const rows = configRows(settings.data.value, { text: filter, onlyChanged, differences });
  const columns = columnsFor(Boolean(differences), against);
  return (
    <div class="run-view run-config">
      <div class="run-toolbar">
        <input
          type="search"
          data-search
          aria-label="Filter the settings"
          placeholder="Filter by key, value or origin"
          value={filter}
          onInput={(event) => setParams({ setting: event.currentTarget.value })}
        />
        <label>
          <input
            type="checkbox"
            checked={onlyChanged}
            onChange={(event) => setParams({ changed: event.currentTarget.checked ? "1" : null })}
          />{" "}
          only changed
        </label>
        <DiffPicker against={against} parent={details.parent} preset={details.preset} />
        <span class="muted">{counted(rows.length, differences ? "difference" : "setting")}</span>
        <span class="run-toolbar-end">
          <CopyButton label="Copy as YAML" text={() => asYaml(rows.filter((row) => row.value !== undefined))} />
          <CopyButton label="Copy as --set" text={() => asOverrides(rows.filter((row) => row.value !== undefined))} />
          <CopyButton
            label="CLI"
            text={
              against
                ? commandText({ command: "config diff", words: [details.id, against] })
                : commandText({ command: "config show", words: [details.id] })
            }
          />
        </span>
      </div>
      {diff.error.value && against && <ErrorState error={diff.error.value} retry={diff.refresh} height={80} />}
      <Table
        label="Settings"
        columns={columns}
        rows={rows}
        rowKey={(row) => row.key}
        rowHeight={24}
        rowClass={(row) => (row.changed ? "run-changed" : "")}
        hasShortcuts
        empty={differences ? "The settings are the same." : "No setting matches."}
      />
    </div>
  );
}

function columnsFor(isDiff: boolean, against: string): Column<ConfigRow>[] {
  const value = (found: unknown) => (
    <code class="run-value ellipsis" title={plainValue(found)}>
      {plainValue(found)}
    </code>
  );
  return [
    { key: "key", label: "Setting", width: "240px", cell: (row) => <KeyText text={row.key} /> },
    { key: "value", label: isDiff ? "This run" : "Value", cell: (row) => (row.value === undefined ? <span class="muted">-</span> : value(row.value)) },
    ...(isDiff
      ? [{ key: "other", label: against, cell: (row: ConfigRow) => (row.other?.value === null ? <span class="muted">-</span> : value(row.other?.value)) }]
      : []),
    { key: "origin", label: "Origin", cell: (row) => <span class={row.changed ? "" : "muted"}>{row.origin}</span> },
  ];
}

/** A dotted key, which may be divided after a dot. */
function KeyText({ text }: { text: string }) {
  return (
    <code>
      {text.split(/(?<=\.)/).map((part) => (
        <>
          {part}
          <wbr />
        </>
      ))}
    </code>
  );
}

interface PickerProps {
  against: string;
  parent: string | null;
  preset: string;
}

function DiffPicker({ against, parent, preset }: PickerProps) {
  const isOther = against !== "" && against !== parent && against !== preset;
  const asking = useSignal(isOther);
  const choose = (value: string) => {
    asking.value = value === "other";
    if (value !== "other") setParams({ diff: value });
  };
  return (
    <>
      <label>
        difference to{" "}
        <select value={asking.value || isOther ? "other" : against} onChange={(event) => choose(event.currentTarget.value)}>
          <option value="">nothing</option>
          {parent && <option value={parent}>parent {parent}</option>}
          {preset && <option value={preset}>preset {preset}</option>}
          <option value="other">another run or preset…</option>
        </select>
      </label>
      {(asking.value || isOther) && (
        <input
          aria-label="Run or preset to compare with"
          placeholder="id, name, @best, ENV:variant"
          defaultValue={isOther ? against : ""}
          onChange={(event) => setParams({ diff: event.currentTarget.value.trim() })}
        />
      )}
    </>
  );
}
