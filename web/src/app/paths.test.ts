import { describe, expect, test } from "vitest";
import { matched, pathBelow, pathWith, runPath } from "./paths";

test.each([
  ["/", "/", "/"],
  ["/", "/run/k3jx/charts", "/run/k3jx/charts"],
  ["/", "/run/k3jx/", "/run/k3jx"],
  ["/studio/", "/studio/", "/"],
  ["/studio/", "/studio", "/studio"],
  ["/a/b/", "/a/b/compare", "/compare"],
])("below %s, the path of %s is %s", (base, pathname, path) => {
  expect(pathBelow(base, pathname)).toBe(path);
});

describe("patterns", () => {
  test.each([
    ["/", "/", {}],
    ["/", "/new", null],
    ["/run/:id/:tab?", "/run/k3jx", { id: "k3jx" }],
    ["/run/:id/:tab?", "/run/k3jx/films", { id: "k3jx", tab: "films" }],
    ["/run/:id/:tab?", "/run", null],
    ["/run/:id/:tab?", "/run/a/b/c", null],
    ["/run/:id/:tab?", "/run/a%2Fb%20c", { id: "a/b c" }],
    ["/run/:id/:tab?", "/run/%E0%A4%A", null],
    ["/selfplay/:id?", "/selfplay", {}],
  ])("%s and %s", (pattern, path, values) => {
    expect(matched(pattern, path)).toEqual(values);
  });
  test("the id of every run leads to its page and back", () => {
    for (const id of ["k3jx", "a/b", "ü n", "@last", "100%", "?#&"]) {
      expect(matched("/run/:id/:tab?", runPath(id, "charts"))).toEqual({ id, tab: "charts" });
    }
  });
});

test("parameters are readable, and read back as they were", () => {
  const values = { runs: "a,b+c", x: "vec_steps", metric: "policy/kl", empty: "", none: null, name: "ü & = #" };
  const path = pathWith("/compare", values);
  expect(path.startsWith("/compare?runs=a,b%2Bc&x=vec_steps&metric=policy/kl&name=")).toBe(true);
  expect(Object.fromEntries(new URLSearchParams(path.split("?")[1]))).toEqual({ runs: "a,b+c", x: "vec_steps", metric: "policy/kl", name: "ü & = #" });
  expect(pathWith("/compare", {})).toBe("/compare");
});
