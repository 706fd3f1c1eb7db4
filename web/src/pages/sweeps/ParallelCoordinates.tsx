/** One line per trial through its value of every parameter; strong lines are good trials. */
import type { Signal } from "@preact/signals";
import type { PlottedTrial, StudyPlots } from "../../api/types";
import { formatNumber } from "../../ui/numbers";
import { axisPlaces, groupOf, parallelPath, quality, shownTicks, type Box } from "./geometry";
import { useWidth } from "../../chart/useWidth";

interface Props {
  plots: StudyPlots;
  pointed: Signal<number | null>;
  onPick: (trial: number) => void;
  height?: number;
}

const MARGIN = { left: 24, right: 86, top: 10, bottom: 38 };
/** Least distance of two axes: on a narrow screen the plot scrolls. */
const GAP = 92;

export function ParallelCoordinates({ plots, pointed, onPick, height = 250 }: Props) {
  const { host, width } = useWidth();
  const { parameters, trials, best } = plots;
  const inner = Math.max(width.value - MARGIN.left - MARGIN.right, (parameters.length - 1) * GAP);
  const box: Box = { left: MARGIN.left, top: MARGIN.top, width: inner, height: height - MARGIN.top - MARGIN.bottom };
  const axes = axisPlaces(parameters.length, box);
  const shown = trials.filter((trial) => trial.value !== null && !trial.is_baseline);
  const complete = shown.flatMap((trial) => (trial.state === "complete" && trial.value !== null ? [trial.value] : []));
  const strength = (trial: PlottedTrial) => (trial.state === "complete" ? quality(trial.value, complete) : -1);
  const current = shown.find((trial) => trial.number === pointed.value);
  const drawn = [...shown].sort((a, b) => Number(a === current) - Number(b === current) || strength(a) - strength(b));
  return (
    <section class="chart" aria-label="Parallel coordinates">
      <div class="chart-head">
        <h3 class="ellipsis">
          Parallel coordinates<span class="muted small"> strong lines are good trials</span>
        </h3>
        <span class="chart-value num ellipsis">{current ? `trial ${current.number}: ${formatNumber(current.value ?? 0)}` : ""}</span>
      </div>
      <div ref={host} class="plot sweeps-scroll" style={{ height: `${height + 6}px` }} tabIndex={0} role="group" aria-label="Parallel coordinates, scrollable">
        {width.value > 0 && (
          <svg
            class="histogram trial-plot"
            width={inner + MARGIN.left + MARGIN.right}
            height={height}
            role="img"
            aria-label={`Parallel coordinates of ${shown.length} trials over ${parameters.length} parameters. The table of trials has all values.`}
          >
            {drawn.map((trial) => (
              <path
                key={trial.number}
                class={`trial-line ${groupOf(trial, best)}${trial === current ? " pointed" : ""}`}
                style={{ "--strength": Math.max(0, strength(trial)).toFixed(3) }}
                d={parallelPath(trial.positions, axes, box)}
                onPointerEnter={() => (pointed.value = trial.number)}
                onPointerLeave={() => (pointed.value = null)}
                onClick={() => onPick(trial.number)}
              />
            ))}
            {parameters.map((parameter, i) => (
              <g key={parameter.name}>
                <line class="parallel-axis" x1={axes[i]} x2={axes[i]} y1={box.top} y2={box.top + box.height} />
                {shownTicks(parameter.ticks, parameter.positions, 6).map(({ text, at }) => (
                  <text key={text} x={(axes[i] ?? 0) + 5} y={box.top + box.height * (1 - at) + 4}>
                    {text}
                  </text>
                ))}
                <text class="axis-label" x={axes[i]} y={height - 20 + (i % 2) * 14} text-anchor={i === 0 ? "start" : "middle"}>
                  {parameter.name}
                </text>
                {current && current.texts[i] && (
                  <text class="parallel-value" x={(axes[i] ?? 0) + 5} y={valueY(current, i, box)}>
                    {current.texts[i]}
                  </text>
                )}
              </g>
            ))}
          </svg>
        )}
      </div>
    </section>
  );
}

function valueY(trial: PlottedTrial, axis: number, box: Box): number {
  return box.top + box.height * (1 - (trial.positions[axis] ?? 0)) - 4;
}
