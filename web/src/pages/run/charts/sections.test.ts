import { describe, expect, it } from "vitest";
import type { ChartData, MetricInfo } from "../../../api/types";
import { isEvaluation, metricFor, sectionOf, splitKey } from "./keys";
import { chartSections, Families, guideHref, metricSections, sectionOrder } from "./sections";

const info = (name: string) => ({ name, section: name.split("/")[0] }) as MetricInfo;
const catalog = ["episode/return", "rollout/obs_mean.K", "policy/kl", "policy/entropy", "match/OUTCOME_share", "time/env"].map(info);
const byName = new Map(catalog.map((metric) => [metric.name, metric]));
const chart = (name: string, family: string, keys: string[], alerts: string[] = []) =>
  ({ name, family, series: keys.map((key) => ({ key })), alerts: alerts.map((id) => ({ id })) }) as ChartData;
const order = sectionOrder(catalog);

describe("keys", () => {
  it("split into scopes and name", () => {
    expect(splitKey("eval/seeker:episode/return")).toEqual({ scopes: ["eval", "seeker"], name: "episode/return" });
    expect(splitKey("policy/kl")).toEqual({ scopes: [], name: "policy/kl" });
    expect(isEvaluation("seeker:episode/return")).toBe(false);
  });
  it("find their section and description", () => {
    expect(["eval:time/wall", "hider:policy/kl", "time/env"].map(sectionOf)).toEqual(["eval", "policy", "time"]);
    expect(metricFor("hider:rollout/obs_mean.12", byName)?.name).toBe("rollout/obs_mean.K");
    expect(metricFor("match/timeout_share", byName)?.name).toBe("match/OUTCOME_share");
    expect(metricFor("nothing/here", byName)).toBeUndefined();
  });
});

describe("sections", () => {
  it("follow the catalogue, evaluations after episodes", () => {
    expect(order).toEqual(["episode", "eval", "rollout", "policy", "match", "time"]);
  });
  it("group charts by the metric that they draw first", () => {
    const charts = [chart("timing", "timing", ["time/env"]), chart("kl", "kl", ["hider:policy/kl"]),
      chart("score", "score", ["eval:episode/return"]), chart("own", "score", ["mine/x"])];
    expect(chartSections(charts, order).map((s) => [s.name, s.charts.length])).toEqual(
      [["episode", 1], ["policy", 1], ["time", 1], ["mine", 1]]);
  });
  it("list every key exactly once without a filter, and only matches with one", () => {
    const keys = ["time/env", "policy/kl", "policy/entropy", "eval:episode/return", "mine/x"];
    const all = metricSections(keys, order, "");
    expect(all.flatMap((s) => s.keys).sort()).toEqual([...keys].sort());
    expect(all.map((s) => s.name)).toEqual(["eval", "policy", "time", "mine"]);
    expect(metricSections(keys, order, "POL ent")).toEqual([{ name: "policy", keys: ["policy/entropy"] }]);
    expect(metricSections(keys, order, "nats", (key) => (key === "policy/kl" ? "in nats" : ""))).toEqual(
      [{ name: "policy", keys: ["policy/kl"] }]);
  });
});

it("families come from the charts of the run", () => {
  const families = new Families([chart("kl", "kl", ["policy/kl"], ["optim/rollbacks:high"]),
    chart("entropy", "entropy", ["hider:policy/entropy"])]);
  expect(families.of("seeker:policy/entropy")).toBe("entropy");
  expect(families.of("policy/ratio_max")).toBe("kl");
  expect(families.ofAlert("optim/rollbacks:high")).toBe("kl");
  expect(guideHref(families.ofAlert("unknown/x:high"))).toBe("guide");
});
