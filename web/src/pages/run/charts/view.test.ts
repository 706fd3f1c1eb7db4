import { describe, expect, it } from "vitest";
import { DEFAULT_VIEW, parseView, toggled, viewParams, type ChartView } from "./view";

const changed: ChartView = {
  x: "seconds", smoothing: 0.6, log: true, range: [1.5, 2000], marks: new Set(["alert", "stage"]),
  closed: new Set(["time", "policy"]), open: new Set(["rollout"]), all: true, filter: "obs mean",
};

describe("the address of a view", () => {
  it("is empty for the defaults", () => {
    expect(viewParams(DEFAULT_VIEW).toString()).toBe("");
    expect(parseView(new URLSearchParams())).toEqual(DEFAULT_VIEW);
  });
  it("returns the same view when read again", () => {
    expect(parseView(new URLSearchParams(viewParams(changed).toString()))).toEqual(changed);
    const none = { ...DEFAULT_VIEW, marks: new Set<never>() };
    expect(parseView(new URLSearchParams(viewParams(none).toString())).marks.size).toBe(0);
  });
  it("keeps other parameters", () => {
    expect(viewParams(changed, new URLSearchParams("format=json&x=frames")).get("format")).toBe("json");
    expect(viewParams(DEFAULT_VIEW, new URLSearchParams("x=frames")).get("x")).toBeNull();
  });
  it.each(["x=weeks", "smooth=2", "smooth=abc", "range=5..1", "range=a..b", "log=yes", "marks=,"])(
    "ignores %s", (text) => {
      const { marks, ...rest } = parseView(new URLSearchParams(text));
      const { marks: _, ...defaults } = DEFAULT_VIEW;
      expect(rest).toEqual(defaults);
      expect([...marks].every((kind) => DEFAULT_VIEW.marks.has(kind))).toBe(true);
    });
});

it("toggled adds and removes without changing its argument", () => {
  const one = new Set(["a"]);
  expect([...toggled(one, "b")]).toEqual(["a", "b"]);
  expect([...toggled(one, "a")]).toEqual([]);
  expect([...one]).toEqual(["a"]);
});
