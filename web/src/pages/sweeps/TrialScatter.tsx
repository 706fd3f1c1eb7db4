/** The value of every trial over its number, or over one parameter. */
import type { Signal } from "@preact/signals";
import type { PlottedTrial } from "../../api/types";
import { ticksBetween } from "../../chart/histogram";
import { formatNumber, formatShort } from "../../ui/numbers";
import { bestPath, groupOf, shownTicks, valueScale, yOf, type Box } from "./geometry";
import { TrialMark } from "./TrialMark";
import { useWidth } from "../../chart/useWidth";

interface Props {
  title: string;
  trials: readonly PlottedTrial[];
  best: number | null;
  /** Returns where a trial is on the x axis, from 0 to 1; null if it is not shown. */
  place: (trial: PlottedTrial) => number | null;
  ticks: readonly string[];
  tickPlaces: readonly number[];
  xLabel: string;
  /** Whether the best value so far is drawn as a line, and failed trials along the axis. */
  isHistory?: boolean;
  pointed: Signal<number | null>;
  onPick: (trial: number) => void;
  height?: number;
}

const LEFT = 48;
const BOTTOM = 32;
const TOP = 8;
const RIGHT = 10;

export function TrialScatter(props: Props) {
  const { title, trials, best, place, ticks, tickPlaces, xLabel, isHistory = false, pointed, onPick, height = 190 } = props;
  const { host, width } = useWidth();
  const box: Box = { left: LEFT, top: TOP, width: Math.max(1, width.value - LEFT - RIGHT), height: height - TOP - BOTTOM };
  const shown = trials.filter((trial) => place(trial) !== null);
  const scale = valueScale(shown.map((trial) => trial.value));
  const toX = (share: number) => box.left + 6 + share * (box.width - 12);
  const pointedTrial = trials.find((trial) => trial.number === pointed.value);
  return (
    <section class="chart" aria-label={title}>
      <div class="chart-head">
        <h3 class="ellipsis" title={title}>
          {title}
        </h3>
        <span class="chart-value num">{pointedTrial && place(pointedTrial) !== null ? readingOf(pointedTrial) : ""}</span>
      </div>
      <div ref={host} class="plot" style={{ height: `${height}px` }}>
        {width.value > 0 && (
          <svg class="histogram trial-plot" width={width.value} height={height} role="img" aria-label={describe(title, shown)}>
            {scale &&
              ticksBetween(scale.low, scale.high, 4).map((tick) => {
                const y = yOf(tick, scale, box);
                return (
                  <g key={tick}>
                    <line class="grid-line" x1={box.left} x2={box.left + box.width} y1={y} y2={y} />
                    <text x={box.left - 6} y={y + 4} text-anchor="end">
                      {formatShort(tick)}
                    </text>
                  </g>
                );
              })}
            {isHistory && scale && <path class="best-line" d={bestPath(trials, (number) => toX(place(at(trials, number)) ?? 0), scale, box)} />}
            {shownTicks(ticks, tickPlaces, Math.max(2, Math.floor(box.width / 70))).map(({ text, at: where }) => (
              <text key={text} x={toX(where)} y={height - BOTTOM + 14} text-anchor={where < 0.04 ? "start" : where > 0.96 ? "end" : "middle"}>
                {text}
              </text>
            ))}
            <text x={box.left + box.width / 2} y={height - 4} text-anchor="middle" class="axis-label">
              {xLabel}
            </text>
            {inDrawingOrder(shown, best).map((trial) => {
              const y = trial.value !== null && scale ? yOf(trial.value, scale, box) : isHistory && trial.state === "failed" ? box.top + box.height : null;
              if (y === null) return null;
              return (
                <TrialMark
                  key={trial.number}
                  group={groupOf(trial, best)}
                  x={toX(place(trial) ?? 0)}
                  y={y}
                  isPointed={trial.number === pointed.value}
                  onPoint={(isOver) => (pointed.value = isOver ? trial.number : null)}
                  onPick={() => onPick(trial.number)}
                />
              );
            })}
          </svg>
        )}
      </div>
    </section>
  );
}

function at(trials: readonly PlottedTrial[], number: number): PlottedTrial {
  return trials.find((trial) => trial.number === number) as PlottedTrial;
}

/** The best trial and the baseline are drawn last, on top. */
function inDrawingOrder(trials: readonly PlottedTrial[], best: number | null): PlottedTrial[] {
  const rank = (trial: PlottedTrial) => (trial.number === best ? 2 : trial.is_baseline ? 1 : 0);
  return [...trials].sort((a, b) => rank(a) - rank(b));
}

function readingOf(trial: PlottedTrial): string {
  const name = trial.is_baseline ? "baseline" : `trial ${trial.number}`;
  return trial.value === null ? `${name}: ${trial.state}` : `${name}: ${formatNumber(trial.value)}`;
}

function describe(title: string, trials: readonly PlottedTrial[]): string {
  const known = trials.filter((trial) => trial.value !== null);
  return `${title}: ${known.length} trials with a value. The table of trials has all numbers.`;
}
