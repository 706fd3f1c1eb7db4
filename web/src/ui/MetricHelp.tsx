/** Everything about a metric: meaning, unit, healthy range, what to try. */
import type { ComponentChildren } from "preact";
import { href } from "../app/router";
import type { MetricInfo } from "../api/types";
import { Tooltip } from "./Tooltip";

/** The text of the help, for a tooltip. */
export function MetricHelpText({ metric }: { metric: MetricInfo }) {
  const facts: [string, string][] = [
    ["unit", metric.unit === "share" ? "share of 1, shown in percent" : metric.unit],
    ["better", metric.better],
    ["healthy", metric.healthy_text],
    ["possible", metric.bounds_text],
    ["over", metric.window],
    ["computed", metric.estimator],
    ["if low", metric.if_low],
    ["if high", metric.if_high],
  ];
  return (
    <div class="metric-help">
      <strong>{metric.name}</strong>
      <p>{metric.meaning}</p>
      <dl>
        {facts
          .filter(([, text]) => text)
          .map(([name, text]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{text}</dd>
            </div>
          ))}
      </dl>
    </div>
  );
}

/** Shows the help of a metric when its children are hovered or focused. The trigger is a link to the guide. */
export function MetricHelp({ metric, children }: { metric: MetricInfo | undefined; children: ComponentChildren }) {
  if (!metric) return <>{children}</>;
  return (
    <Tooltip content={() => <MetricHelpText metric={metric} />}>
      <a class="help-link" href={href(`/guide/metrics#${encodeURIComponent(metric.name)}`)}>
        {children}
      </a>
    </Tooltip>
  );
}
