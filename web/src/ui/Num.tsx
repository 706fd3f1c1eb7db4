/** A number with muted unit; its title has all digits. */
import { formatNumber, fullPrecision, metricParts, type MetricFormat } from "./numbers";

interface Props {
  value: number | null | undefined;
  /** Formats as the metric does; without it, with two decimals below ten, one below a thousand. */
  metric?: MetricFormat | undefined;
}

export function Num({ value, metric }: Props) {
  if (value === null || value === undefined) return <span class="num muted">-</span>;
  const [text, unit] = metric ? metricParts(metric, value) : [formatNumber(value), ""];
  return (
    <span class="num" title={fullPrecision(value)}>
      {text}
      {unit && <span class="unit">{unit === "%" ? unit : ` ${unit}`}</span>}
    </span>
  );
}
