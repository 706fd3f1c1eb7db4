import { describe, expect, test } from "vitest";
import { EMPTY_VIEW, parseView, viewPath, type CompareView } from "./view";

function reopened(view: CompareView): CompareView {
  return parseView(new URL(viewPath(view), "http://127.0.0.1/").searchParams);
}

const NAMES = ["a", "base", "a+b+c", "wide, deep", "100%", "50%2C", "läuft ✓", "a&b=c", "<b>x</b>", "#1", "x/y:z"];

describe("the URL of a comparison", () => {
  test("restores the whole view", () => {
    const view: CompareView = {
      refs: ["k3jx", "g1f3a9c02", "a+b+c"],
      x: "env_steps",
      metrics: ["eval:episode/return", "eval/seeker:match/win_rate", "rollout/action_share.0"],
      grouping: "variant",
      smoothing: 0.6,
      log: true,
      hidden: ["k3jx"],
      baseline: "a+b+c",
      zoom: { low: 0.5, high: 1e6 },
    };
    expect(reopened(view)).toEqual(view);
  });

  test.each(NAMES)("restores the name %s in every place", (name) => {
    const view = { ...EMPTY_VIEW, refs: ["first", name, "last"], hidden: [name], metrics: [name], baseline: name };
    expect(reopened(view)).toEqual(view);
  });

  test("is short for the defaults", () => {
    expect(viewPath(EMPTY_VIEW)).toBe("/compare");
    expect(viewPath({ ...EMPTY_VIEW, refs: ["a", "b"] })).toBe("/compare?runs=a,b");
    expect(viewPath({ ...EMPTY_VIEW, refs: ["a"], metrics: ["eval:episode/return"] })).toBe(
      "/compare?runs=a&metrics=eval:episode/return",
    );
  });

  test("ignores values that are not valid", () => {
    const text = "runs=,a,,a&group=color&smoothing=much&zoom=9~1&log=yes";
    expect(parseView(new URLSearchParams(text))).toEqual({ ...EMPTY_VIEW, refs: ["a"] });
    for (const zoom of ["", "~", "1~", "~2", "1~2~3", "a~b", "1~Infinity"])
      expect(parseView(new URLSearchParams({ zoom })).zoom).toBeNull();
    expect(parseView(new URLSearchParams("smoothing=7")).smoothing).toBe(0.99);
    expect(parseView(new URLSearchParams("smoothing=-1")).smoothing).toBe(0);
  });
});
