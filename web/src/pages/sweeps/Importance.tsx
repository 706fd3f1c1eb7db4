/** How much each parameter matters, with its interval. */
import type { SweepImportance } from "../../api/types";
import { fixed, fullPrecision } from "../../ui/numbers";

interface Props {
  importance: SweepImportance | null;
  /** Why there is none. */
  note: string;
}

export function Importance({ importance, note }: Props) {
  const found = importance?.parameters ?? [];
  return (
    <section class="chart" aria-label="Importance">
      <div class="chart-head">
        <h3 class="ellipsis">
          Importance<span class="muted small"> {importance ? `of ${importance.trials} trials` : ""}</span>
        </h3>
      </div>
      {found.length > 0 ? (
        <ul class="importance">
          {found.map((one) => (
            <li key={one.name}>
              <span class="ellipsis" title={one.name}>
                {one.name}
              </span>
              <span class="importance-bar" aria-hidden="true">
                <span class="importance-fill" style={{ width: `${100 * one.importance}%` }} />
                <span class="importance-interval" style={{ left: `${100 * one.low}%`, width: `${100 * Math.max(one.high - one.low, 0)}%` }} />
              </span>
              <span class="num" title={`${fullPrecision(one.importance)}, 95 % interval ${fullPrecision(one.low)} to ${fullPrecision(one.high)}`}>
                {fixed(one.importance, 2)} <span class="muted">[{fixed(one.low, 2)}, {fixed(one.high, 2)}]</span>
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p class="muted sweeps-note">{note || "There are too few trials."}</p>
      )}
      {importance?.caution && <p class="legend-note">{importance.caution}</p>}
    </section>
  );
}
