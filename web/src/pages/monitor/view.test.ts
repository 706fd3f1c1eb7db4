import { describe, expect, test } from "vitest";
import { DEFAULT_VIEW, parseView, viewPath, type MonitorView } from "./view";

function reopened(view: MonitorView): MonitorView {
  return parseView(new URL(viewPath(view), "http://127.0.0.1/").searchParams);
}

const NAMES = ["selfplay", "seeker vs scripted", "wide, deep", "100%", "läuft ✓", "a&b=c", "<b>x</b>", "#1"];

describe("the URL of the monitor", () => {
  test("restores the whole view", () => {
    const view: MonitorView = {
      env: "tag",
      approaches: ["selfplay", "curriculum"],
      runs: ["w82iywf0", "zepl1pdr"],
      smooth: 25,
      skipBroken: true,
      arrangement: "run",
      sort: { key: "seeker final_return", descending: true },
      closed: ["Approaches", "PPO health"],
    };
    expect(reopened(view)).toEqual(view);
  });

  test.each(NAMES)("restores the name %s in every place", (name) => {
    const view = { ...DEFAULT_VIEW, env: name, approaches: ["first", name], runs: [name], closed: [name] };
    expect(reopened(view)).toEqual(view);
  });

  test("is short for the defaults", () => {
    expect(viewPath(DEFAULT_VIEW)).toBe("/monitor");
    expect(viewPath({ ...DEFAULT_VIEW, approaches: ["a", "b"] })).toBe("/monitor?approaches=a,b");
  });

  test.each(["", "0", "-3", "1.5", "many", "1e9", " "])("ignores the smoothing %s", (smooth) => {
    expect(parseView(new URLSearchParams({ smooth }))).toEqual(DEFAULT_VIEW);
  });
});
