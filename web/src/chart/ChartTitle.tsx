/** The title of a chart with its unit and note; pointing at it explains the metric. */
import type { MetricInfo } from "../api/types";
import { MetricHelp } from "../ui/MetricHelp";

interface Props {
  title: string;
  unit?: string | undefined;
  help?: MetricInfo | undefined;
  note?: string | undefined;
}

export function ChartTitle({ title, unit, help, note }: Props) {
  return (
    <h3 class="ellipsis" title={help ? undefined : title}>
      <MetricHelp metric={help}>{title}</MetricHelp>
      {unit && unit !== "share" && <span class="unit"> {unit}</span>}
      {note && <span class="muted small"> {note}</span>}
    </h3>
  );
}
