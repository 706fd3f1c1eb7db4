/** What happened to a run, and its log as it grows. */
import { route, setParams } from "../../../app/router";
import type { RunEvent } from "../../../api/types";
import { Num } from "../../../ui/Num";
import { Table, type Column } from "../../../ui/Table";
import type { TabProps } from "../parts/lazyTab";
import { counted, timeText } from "../parts/text";
import { LogView } from "./LogView";

interface Numbered extends RunEvent {
  number: number;
}

/** Kinds of events that say why a run stopped or what went wrong. */
const IMPORTANT = ["stopping", "failed", "fault", "stalled", "update rolled back", "command refused", "evaluation incomplete", "confirmation incomplete"];

export default function EventsTab({ model, details }: TabProps) {
  const events = model.events.value;
  const kind = route.value.params.get("kind") ?? "";
  const kinds = [...new Set(events.map((event) => event.kind))].sort();
  const rows: Numbered[] = events
    .map((event, index) => ({ ...event, number: index + 1 }))
    .filter((event) => !kind || event.kind === kind)
    .reverse();
  return (
    <div class="run-view run-events">
      <section aria-label="Events">
        <div class="run-toolbar">
          <h2>Events</h2>
          <label>
            kind{" "}
            <select value={kind} onChange={(event) => setParams({ kind: event.currentTarget.value })}>
              <option value="">all</option>
              {kinds.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <span class="muted">{counted(rows.length, "event")}, newest first</span>
        </div>
        <Table
          label="Events"
          columns={COLUMNS}
          rows={rows}
          rowKey={(row) => String(row.number)}
          rowClass={(row) => (IMPORTANT.includes(row.kind) ? "run-important" : "")}
          empty="Nothing has happened yet: evaluations, checkpoints and changes appear here."
        />
      </section>
      <LogView model={model} details={details} />
    </div>
  );
}

const COLUMNS: Column<Numbered>[] = [
  { key: "time", label: "Time", width: "88px", cell: (row) => <span class="muted">{timeText(row.time)}</span> },
  { key: "env_steps", label: "Env steps", width: "88px", align: "right", class: "run-wide", cell: (row) => <Num value={row.env_steps} metric={{ unit: "", digits: 0 }} /> },
  { key: "kind", label: "Kind", width: "136px", cell: (row) => row.kind },
  {
    key: "text",
    label: "What",
    cell: (row) => (
      <span class="run-event-text" title={row.text}>
        {row.text}
      </span>
    ),
  },
];
