/** How far learning is: numbers, and the learning curve. */
import { useMemo } from "preact/hooks";
import { inkAt } from "../../../chart/colors";
import { LineChart, type LineSeries } from "../../../chart/LineChart";
import { smoothed } from "../../../chart/smooth";
import { rounded } from "../../../ui/numbers";
import { curveRange } from "./curveRange";
import { ALGORITHM_NAMES } from "./settings";
import type { GridStore } from "./store";

const SMOOTHING = 0.9;

export function GridFacts({ store }: { store: GridStore }) {
  const { steps, episodes, lastReturn, forecast, isDone, path } = store.facts.value;
  const isPlanning = store.view.value.settings.algorithm === "value_iteration";
  // Where moves slip, a policy has no single path.
  const isRandom = store.view.value.world.slip > 0;
  const count = (value: number) => value.toLocaleString("en-US");
  return (
    <dl class="playground-facts" aria-label="Progress">
      <Fact label={isPlanning ? "sweeps" : "steps"} value={count(steps) + (isDone ? ", converged" : "")} />
      {!isPlanning && <Fact label="episodes" value={count(episodes)} />}
      {!isPlanning && <Fact label="last return" value={lastReturn === null ? "-" : rounded(lastReturn, 2)} />}
      <Fact
        label="greedy policy"
        title="Computed exactly from the transitions: episodes that always take the best known action"
        value={`goal in ${rounded(forecast.goal * 100, 0)} % of episodes, return ${rounded(forecast.meanReturn, 2)}`}
      />
      {!isRandom && <Fact label="greedy path" value={path.end === "goal" ? `reaches the goal in ${path.cells.length - 1} steps` : path.end === "pit" ? "leads into a pit" : "leads nowhere yet"} />}
    </dl>
  );
}

function Fact({ label, value, title }: { label: string; value: string; title?: string }) {
  return (
    <div title={title}>
      <dt>{label}</dt>
      <dd class="num">{value}</dd>
    </div>
  );
}

export function LearningCurve({ store }: { store: GridStore }) {
  const facts = store.facts.value;
  const kept = store.kept.value;
  const { algorithm } = store.view.value.settings;
  const isPlanning = algorithm === "value_iteration";
  const series = useMemo((): LineSeries[] => {
    const now: LineSeries[] = [
      { key: "now", label: isPlanning ? "value of the start" : ALGORITHM_NAMES[algorithm], ...inkAt(0), x: facts.returns.x, y: facts.returns.y, exact: isPlanning },
      { key: "greedy", label: isPlanning ? "greedy policy" : `${ALGORITHM_NAMES[algorithm]}, greedy`, ...inkAt(0), dash: [6, 3], x: facts.greedy.x, y: facts.greedy.y, exact: true },
    ];
    const before = isPlanning ? [] : kept.map(({ label, x, y }, i): LineSeries => ({ key: label, label, ...inkAt(i + 1), x, y: smoothed(y, SMOOTHING), exact: true }));
    return [...now, ...before];
  }, [facts, kept, algorithm, isPlanning]);
  const yRange = useMemo(() => (isPlanning ? undefined : curveRange([facts.returns, ...kept].map(({ y }) => y))), [facts, kept, isPlanning]);
  return (
    <LineChart
      title={isPlanning ? "Value of the start" : "Return per episode"}
      note={isPlanning ? undefined : `smoothed; earlier sessions in this world stay for comparison${yRange ? "; the worst episodes are cut off" : ""}`}
      xLabel={isPlanning ? "sweeps" : "episodes"}
      series={series}
      yRange={yRange}
      smoothing={isPlanning ? 0 : SMOOTHING}
      height={180}
      actions={kept.length ? [{ label: "Remove earlier curves", run: () => store.clearKept() }] : undefined}
    />
  );
}
