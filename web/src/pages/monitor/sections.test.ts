import { describe, expect, test } from "vitest";
import { panelsOf } from "./panels";
import { APPROACHES, chartSections, measureOf } from "./sections";
import { makeChart, makeSeries } from "./testReport";

describe("what a chart measures", () => {
  test.each([
    ["episode/return", "Reward"],
    ["eval/seeker:episode/return", "Reward"],
    ["seeker:league/win_rate", "Win rate"],
    ["eval/hider:match/win_rate", "Win rate"],
    ["eval/hider:league/rating", "Win rate"],
    ["match/tag_share", "Outcomes"],
    ["env/distance", "Environment"],
    ["match/duration", "Length"],
    ["episode/length", "Length"],
    ["seeker:policy/kl", "PPO health"],
    ["value/loss", "PPO health"],
    ["speed/env_steps", "Other"],
  ])("%s belongs to %s", (column, measure) => {
    expect(measureOf(makeChart(column))).toBe(measure);
  });
});

describe("sections", () => {
  const charts = [
    makeChart("policy/kl", { about: "approach", run: "", name: "tag-kl" }),
    makeChart("episode/return", { about: "approach", run: "", name: "tag-reward" }),
    makeChart("policy/kl", { run: "a", name: "a-kl" }),
    makeChart("episode/return", { run: "a", name: "a-reward" }),
    makeChart("episode/return", { run: "b", name: "b-reward" }),
  ];
  const named = (run: string) => run.toUpperCase();
  const shown = (arrangement: "measure" | "run") =>
    chartSections(charts, arrangement, named).map((section) => [section.key, section.title, section.charts.map((chart) => chart.name)]);

  test("by measure have the charts of all runs", () => {
    expect(shown("measure")).toEqual([
      [APPROACHES, "Approaches", ["tag-reward", "tag-kl"]],
      ["Reward", "Reward", ["a-reward", "b-reward"]],
      ["PPO health", "PPO health", ["a-kl"]],
    ]);
  });

  test("by run have all charts of a run", () => {
    expect(shown("run").slice(1)).toEqual([
      ["a", "A", ["a-reward", "a-kl"]],
      ["b", "B", ["b-reward"]],
    ]);
  });
});

describe("panels", () => {
  const roles = [makeSeries({ role: "seeker" }), makeSeries({ role: "hider" }), makeSeries({ role: "seeker", approach: "b" })];

  test("of approaches are one per role", () => {
    const panels = panelsOf(makeChart("episode/return", { about: "approach", name: "r", title: "Return", series: roles }));
    expect(panels.map(({ name, title, series }) => [name, title, series.length])).toEqual([
      ["r-seeker", "seeker · Return", 2],
      ["r-hider", "selfplay · hider · Return", 1],
    ]);
  });

  test("of the lines of one run are one", () => {
    expect(panelsOf(makeChart("episode/return", { series: roles }))).toHaveLength(1);
  });

  test("of shares are one per approach", () => {
    const shares = ["a", "b"].flatMap((approach) => ["tag", "timeout"].map((label) => makeSeries({ approach, label })));
    const panels = panelsOf(makeChart("match/tag_share", { about: "approach", kind: "stacked shares", series: shares }));
    expect(panels.map(({ series }) => series.map(({ label }) => label))).toEqual([["tag", "timeout"], ["tag", "timeout"]]);
    expect(panels.map(({ title }) => title)).toEqual(["a · match/tag_share", "b · match/tag_share"]);
  });
});
