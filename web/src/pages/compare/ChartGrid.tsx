/** The charts of the comparison: one per metric, with a common x axis and zoom. */
import type { MetricInfo } from "../../api/types";
import { Loading } from "../../ui/states";
import { CHART_HEIGHT, CompareChart, type SharedProps } from "./CompareChart";
import { EVALUATION_RETURN, infoOf, siblingKeys } from "./keys";
import type { CompareView } from "./view";

interface Props extends SharedProps {
  /** Whether the data of all charts is read now, not only that of the first one. */
  isWanted: boolean;
  metrics: readonly string[];
  /** Number of charts whose metric is not known yet. */
  pending: number;
  /** Keys that the runs recorded. */
  known: ReadonlySet<string>;
  catalogue: readonly MetricInfo[];
  onChange: (changes: Partial<CompareView>) => void;
}

export function ChartGrid(props: Props) {
  const { metrics, known, catalogue, onChange } = props;
  const infos = new Map(catalogue.map((info) => [info.name, info]));
  return (
    <section class="compare-charts" aria-label="Charts">
      <h2 class="visually-hidden">Charts</h2>
      {metrics.map((key) => {
        const others = siblingKeys(key, known).filter((other) => !metrics.includes(other));
        const at = metrics.indexOf(key) + 1;
        return (
          <CompareChart
            {...props}
            key={key}
            isWanted={at === 1 || props.isWanted}
            metric={key}
            info={infoOf(key, infos)}
            onSplit={others.length > 0 ? () => onChange({ metrics: [...metrics.slice(0, at), ...others, ...metrics.slice(at)] }) : undefined}
            onRemove={key === EVALUATION_RETURN ? undefined : () => onChange({ metrics: metrics.filter((other) => other !== key) })}
          />
        );
      })}
      {Array.from({ length: props.pending }, (_, i) => (
        <Loading key={i} what="charts" height={CHART_HEIGHT} />
      ))}
    </section>
  );
}
