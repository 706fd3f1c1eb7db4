/** The diagnosis of a run: outcome, causes with evidence, settings to change, and its alerts with advice. */
import { useComputed } from "@preact/signals";
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import type { Alert, ChartData, LikelyCause, RunDetails } from "../../../api/types";
import { href, Link } from "../../../app/router";
import { CopyButton } from "../../../ui/CopyButton";
import { MetricHelp } from "../../../ui/MetricHelp";
import { formatCount } from "../../../ui/numbers";
import { ErrorState, Loading } from "../../../ui/states";
import { metricFor } from "../charts/keys";
import { alertKey } from "../charts/marks";
import { Families, guideHref } from "../charts/sections";
import { againCommand } from "../header/commands";
import type { TabProps } from "../parts/lazyTab";
import { counted, plainValue } from "../parts/text";
import { againPath, assignmentsOf, causesOf, outlookOf } from "./diagnosis";

export default function DiagnosisTab({ details }: TabProps) {
  const place = `${details.id}:${details.status}:${details.n_alerts}:${details.evaluations.length}`;
  const doctor = useQuery(`doctor:${place}`, () => read("doctor", { ref: details.id }));
  const charts = useQuery(`chart-families:${place}`, () => read("charts", { ref: details.id }));
  const families = useComputed(() => new Families(charts.data.value ?? ([] as ChartData[])));
  const diagnosis = doctor.data.value;
  if (doctor.error.value && !diagnosis) return <ErrorState error={doctor.error.value} retry={doctor.refresh} />;
  if (!diagnosis) return <Loading what="the diagnosis" height={400} />;
  const outlook = outlookOf(diagnosis);
  const causes = causesOf(diagnosis);
  return (
    <div class="run-view run-diagnosis">
      <section>
        <h2>
          Outcome <span class={`badge ${outlook.level}`}>{outlook.label}</span>
        </h2>
        <p>{sentence(diagnosis.outcome.text)}</p>
        {diagnosis.notes.map((note) => (
          <p key={note} class="muted">
            {sentence(note)}
          </p>
        ))}
      </section>
      <section>
        <h2>{causes.length ? "Likely causes, the likeliest first" : "Causes"}</h2>
        {!causes.length && (
          <p class="muted">
            {diagnosis.healthy === null ? "It is too early to name causes." : "Nothing points to a problem."}
          </p>
        )}
        <ol class="run-causes">
          {causes.map((cause) => (
            <CauseItem key={cause.cause} cause={cause} details={details} families={families.value} />
          ))}
        </ol>
      </section>
      {diagnosis.unusual.length > 0 && (
        <section>
          <h2>Unusual</h2>
          <ul>
            {diagnosis.unusual.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </section>
      )}
      <Alerts details={details} families={families.value} />
      <p class="run-command">
        <code>gymnast doctor {details.id}</code>
        <CopyButton text={`gymnast doctor ${details.id}`} />
      </p>
    </div>
  );
}

interface CauseProps {
  cause: LikelyCause;
  details: RunDetails;
  families: Families;
}

function CauseItem({ cause, details, families }: CauseProps) {
  const guides = [...new Set(cause.alerts.map((id) => families.ofAlert(id)))].filter(Boolean);
  const hasChanges = Object.keys(cause.changes).length > 0;
  return (
    <li>
      <h3>
        {sentence(cause.cause)} {!cause.lasting && <span class="badge">brief</span>}
      </h3>
      <ul class="run-evidence">
        {cause.evidence.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      {hasChanges && <Changes changes={cause.changes} details={details} />}
      {guides.length > 0 && (
        <p class="small">
          How to read these charts:{" "}
          {guides.map((family, i) => (
            <span key={family}>
              {i > 0 && ", "}
              <a href={href(`/${guideHref(family)}`)}>{family}</a>
            </span>
          ))}
        </p>
      )}
    </li>
  );
}

function Changes({ changes, details }: { changes: Record<string, unknown>; details: RunDetails }) {
  const command = againCommand(details, assignmentsOf(changes));
  return (
    <div class="run-changes">
      {Object.entries(changes).map(([key, value]) => (
        <code key={key}>
          {key} = {plainValue(value)}
        </code>
      ))}
      <Link class="button primary" to={againPath(details.id, changes)}>
        Train again with {Object.keys(changes).length === 1 ? "this change" : "these changes"}
      </Link>
      <CopyButton label="Copy as CLI command" text={command} />
    </div>
  );
}

function Alerts({ details, families }: { details: RunDetails; families: Families }) {
  const metrics = useQuery("metrics", () => read("metrics", {}));
  const catalog = new Map((metrics.data.value ?? []).map((metric) => [metric.name, metric]));
  if (!details.alerts.length) {
    return (
      <section>
        <h2>Alerts</h2>
        <p class="muted">No metric left its healthy range for long.</p>
      </section>
    );
  }
  return (
    <section>
      <h2>{counted(details.alerts.length, "alert")}</h2>
      <ul class="run-alert-list">
        {details.alerts.map((alert) => (
          <li key={alert.id} class={alert.level}>
            <h3>
              <span aria-hidden="true">▲</span> {sentence(alert.message)} <span class="badge">{alert.active ? "active" : "over"}</span>
            </h3>
            <p>{alert.advice}</p>
            <p class="small muted">
              <MetricHelp metric={metricFor(alertKey(alert), catalog)}>{alertKey(alert)}</MetricHelp> · {alert.level} ·{" "}
              {spanText(alert)} · <a href={href(`/${guideHref(families.ofAlert(alert.id))}`)}>chart guide</a>
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}

function spanText(alert: Alert): string {
  return `${counted(alert.count, "row")}, ${formatCount(alert.first)} to ${formatCount(alert.last)} env steps`;
}

function sentence(text: string): string {
  const trimmed = text.trim();
  const start = trimmed.slice(0, 1);
  // A metric's name stays as it is.
  const capital = /^\S+\/\S+/.test(trimmed) ? start : start.toUpperCase();
  return `${capital}${trimmed.slice(1)}${/[.!?]$/.test(trimmed) ? "" : "."}`;
}
