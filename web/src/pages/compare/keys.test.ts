import { describe, expect, test } from "vitest";
import type { MetricInfo } from "../../api/types";
import { defaultMetrics, EVALUATION_RETURN, infoOf, keyTitle, pickerSections, siblingKeys, splitKey } from "./keys";

function info(name: string, meaning = ""): MetricInfo {
  return { name, section: name.split("/")[0]!, meaning } as MetricInfo;
}

const CATALOGUE = ["episode/return", "match/OUTCOME_share", "rollout/obs_mean", "rollout/obs_mean.K", "policy/kl"].map(
  (name) => info(name),
);
const SELF_PLAY = new Set([
  EVALUATION_RETURN,
  "eval/hider:episode/return",
  "eval/seeker:episode/return",
  "eval/seeker/weak:match/win_rate",
  "hider:episode/return",
  "seeker:episode/return",
  "seeker:policy/kl",
  "hider:policy/kl",
  "match/tag_share",
  "clock/env_steps",
  "seeker:rollout/obs_mean.10",
  "seeker:rollout/obs_mean.2",
  "env/distance",
]);

describe("keys of metrics", () => {
  test("have scopes", () => {
    expect(splitKey("eval/seeker:episode/return")).toMatchObject({ scope: "eval/seeker", name: "episode/return" });
    expect(splitKey("policy/kl")).toMatchObject({ scope: "", name: "policy/kl" });
    expect(keyTitle(EVALUATION_RETURN)).toBe("Evaluation return");
    expect(keyTitle("eval/seeker:match/win_rate")).toBe("match/win_rate · evaluation seeker");
  });

  test("are described by the catalogue, also with an index or the name of an outcome", () => {
    const infos = new Map(CATALOGUE.map((entry) => [entry.name, entry]));
    expect(infoOf("seeker:rollout/obs_mean.12", infos)?.name).toBe("rollout/obs_mean.K");
    expect(infoOf("rollout/obs_mean", infos)?.name).toBe("rollout/obs_mean");
    expect(infoOf("eval/hider:match/timeout_share", infos)?.name).toBe("match/OUTCOME_share");
    expect(infoOf("env/distance", infos)).toBeNull();
  });

  test("of other roles are found in the same kind of scope", () => {
    expect(siblingKeys(EVALUATION_RETURN, SELF_PLAY)).toEqual(["eval/hider:episode/return", "eval/seeker:episode/return"]);
    expect(siblingKeys("seeker:policy/kl", SELF_PLAY)).toEqual(["hider:policy/kl"]);
    expect(siblingKeys("match/tag_share", SELF_PLAY)).toEqual([]);
  });
});

describe("the charts without a choice", () => {
  test("start with the evaluation return, and have only metrics of the runs", () => {
    expect(defaultMetrics(new Set())).toEqual([EVALUATION_RETURN]);
    expect(defaultMetrics(new Set(["policy/kl", "episode/return", "env/x"]))).toEqual([
      EVALUATION_RETURN,
      "episode/return",
      "policy/kl",
    ]);
  });

  test("have one chart per role if metrics are recorded per role", () => {
    expect(defaultMetrics(SELF_PLAY)).toEqual([
      EVALUATION_RETURN,
      "hider:episode/return",
      "seeker:episode/return",
      "hider:policy/kl",
      "seeker:policy/kl",
    ]);
  });
});

describe("the picker", () => {
  test("lists every recorded key once, in the order of the catalogue, without clocks", () => {
    const sections = pickerSections(SELF_PLAY, CATALOGUE, "");
    expect(sections.map((part) => part.section)).toEqual(["episode", "match", "rollout", "policy", "env"]);
    const keys = sections.flatMap((part) => part.metrics.flatMap((metric) => metric.keys.map((key) => key.key)));
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBe(SELF_PLAY.size - 1);
    const names = sections.flatMap((part) => part.metrics.map((metric) => metric.name));
    expect(names.indexOf("rollout/obs_mean.2")).toBeLessThan(names.indexOf("rollout/obs_mean.10"));
  });

  test("searches names, meanings and scopes, all words", () => {
    const found = (search: string) =>
      pickerSections(SELF_PLAY, [...CATALOGUE, info("env/distance", "Distance between the roles.")], search).flatMap(
        (part) => part.metrics.map((metric) => metric.name),
      );
    expect(found("POLICY kl")).toEqual(["policy/kl"]);
    expect(found("between")).toEqual(["env/distance"]);
    expect(found("weak")).toEqual(["match/win_rate"]);
    expect(found("nothing like it")).toEqual([]);
  });
});
