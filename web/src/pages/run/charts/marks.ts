/** The marks along the x axis of charts: alerts, checkpoints, evaluations, and events that changed the training. */
import type { Alert, ChartAlert, RunDetails, RunEvent } from "../../../api/types";
import type { ChartMark } from "../../../chart/types";
import { formatCount, formatNumber } from "../../../ui/numbers";
import { counted } from "../parts/text";
import type { ClockAxis } from "./axis";
import { guideHref } from "./sections";

export type MarkKind = ChartMark["kind"];

export const MARK_KINDS: readonly MarkKind[] = [
  "alert", "checkpoint", "evaluation", "change", "stage", "rollback", "resume",
];

/** Kind of event -> kind of mark. Other events are only in the table of events. */
const EVENT_MARKS: Readonly<Record<string, MarkKind>> = {
  "live change": "change",
  rule: "change",
  "budget changed": "change",
  "live changes dropped": "change",
  stage: "stage",
  rebalanced: "stage",
  "update rolled back": "rollback",
  resumed: "resume",
  branched: "resume",
  restarted: "resume",
  recovered: "resume",
};

/** Returns the marks that every chart of a run has. */
export function sharedMarks(details: RunDetails, events: readonly RunEvent[], axis: ClockAxis): ChartMark[] {
  const marks: ChartMark[] = [];
  for (const event of events) {
    const kind = EVENT_MARKS[event.kind];
    if (!kind || event.env_steps === null) continue;
    const text = event.text ? `${event.kind}: ${event.text}` : event.kind;
    marks.push({ x: axis.at(event.env_steps), kind, text });
  }
  for (const step of details.checkpoints.steps) {
    const which = step === details.best_step ? " (best)" : step === details.latest_step ? " (latest)" : "";
    marks.push({ x: axis.at(step), kind: "checkpoint", text: `checkpoint at ${formatCount(step)} env steps${which}` });
  }
  for (const point of details.evaluations) {
    const text = `evaluation at ${formatCount(point.env_steps)} env steps: mean return ${formatNumber(point.mean_return)}`;
    marks.push({ x: axis.at(point.env_steps), kind: "evaluation", text });
  }
  return marks.sort((a, b) => a.x - b.x);
}

/** Returns the marks of the alerts of one chart, which link to its section of the chart guide. */
export function alertMarks(alerts: readonly ChartAlert[], family: string): ChartMark[] {
  return alerts.map((alert) => ({
    x: alert.x,
    kind: "alert",
    level: alert.level,
    text: `${alert.message} (${counted(alert.count, "row")})`,
    href: guideHref(family),
  }));
}

/** Returns the marks of the alerts about one metric. */
export function metricAlertMarks(
  alerts: readonly Alert[],
  key: string,
  axis: ClockAxis,
  family: string,
): ChartMark[] {
  const about = alerts.filter((alert) => alertKey(alert) === key);
  const placed = about.map((alert) => ({ ...alert, x: axis.at(alert.first), until: axis.at(alert.last) }));
  return alertMarks(placed, family);
}

/** Returns the key of the metric that an alert is about: its id without the last part. */
export function alertKey(alert: Pick<Alert, "id">): string {
  return alert.id.slice(0, alert.id.lastIndexOf(":"));
}
