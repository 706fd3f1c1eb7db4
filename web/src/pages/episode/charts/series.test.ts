import { describe, expect, it } from "vitest";
import type { ColumnInfo } from "../types";
import { episodeCharts, seriesOf } from "./series";

const columnsOf = (...names: string[]): ColumnInfo[] => names.map((name) => ({ name, label: name, unit: "", doc: "", group: "value" }));

describe("charts of an episode", () => {
  it("exist for what is known", () => {
    const titles = (...names: string[]) => episodeCharts(columnsOf(...names)).map(({ key }) => key);
    expect(titles("value_learned", "return_learned", "advantage_learned", "p/left", "p/right", "action", "reward_raw")).toEqual([
      "value",
      "advantage",
      "probabilities",
      "reward",
    ]);
    expect(titles("reward_raw", "return_to_go_raw")).toEqual(["value", "reward"]);
    expect(titles("mean/torque", "action/torque", "reward_raw")).toEqual(["actions", "reward"]);
  });

  it("stack probabilities only if they add up to one", () => {
    const stacked = (...names: string[]) => episodeCharts(columnsOf(...names)).find(({ key }) => key === "probabilities")?.isStacked;
    expect(stacked("action", "p/left", "p/right")).toBe(true);
    expect(stacked("action/turn", "p/turn.0", "p/turn.1", "action/dash", "p/dash.0")).toBe(false);
  });

  it("show what learning adds to the reward only if something is added", () => {
    const reward = (...names: string[]) => episodeCharts(columnsOf(...names)).find(({ key }) => key === "reward")?.columns;
    expect(reward("reward_raw", "reward_learned")).toEqual(["reward_raw"]);
    expect(reward("reward_raw", "term/goal", "reward_learned")).toEqual(["reward_raw", "term/goal"]);
    expect(reward("reward_raw", "shaping/distance", "reward_learned")).toEqual(["reward_raw", "shaping/distance", "reward_learned"]);
  });

  it("stack all of many options, and of very many show the likeliest as lines", () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => `p/${i}`);
    const shown = (count: number) => {
      const chart = episodeCharts(columnsOf("action", ...many(count)))[0]!;
      return { isStacked: chart.isStacked, keys: seriesOf(chart, [], (name) => Float64Array.of(Number(name.slice(2)) / 100, NaN)).map(({ key }) => key) };
    };
    expect(shown(10)).toEqual({ isStacked: true, keys: many(10) });
    expect(shown(40)).toEqual({ isStacked: false, keys: many(40).slice(32) });
  });

  it("keep the played line visible behind a variation, unless they are stacked", () => {
    const charts = episodeCharts(columnsOf("value_learned", "action", "p/left"));
    const lines = charts.flatMap((chart) => seriesOf(chart, [], () => Float64Array.of(1, 2), () => Float64Array.of(1, 5, 6)));
    expect(lines.map(({ key, faint, x }) => [key, faint ?? false, x.length])).toEqual([
      ["value_learned", false, 2],
      ["value_learned as played", true, 3],
      ["p/left", false, 2],
    ]);
  });

  it("have one line per column of numbers, over the steps", () => {
    const [chart] = episodeCharts(columnsOf("value_learned", "return_learned"));
    const lines = seriesOf(chart!, columnsOf("value_learned"), (name) => (name === "value_learned" ? Float64Array.of(3, 4, 5) : undefined));
    expect(lines.length).toBe(1);
    expect([...lines[0]!.x as Float64Array]).toEqual([0, 1, 2]);
    expect(lines[0]!.label).toBe("value_learned");
  });
});
