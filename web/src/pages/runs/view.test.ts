import { expect, test } from "vitest";
import { COLUMNS } from "./columns";
import { DEFAULT_SORT, GROUPINGS, parseView, viewPath, type View } from "./view";

const columns = COLUMNS.map((column) => column.id);
const read = (path: string): View => parseView(new URL(path, "http://x").searchParams, columns);

test("an address describes every filter, order and grouping", () => {
  for (const filter of ["", "env=CartPole-v1 status=failed", "a&b=c#d?e+f %20 ü 'quoted'"])
    for (const key of columns)
      for (const descending of [false, true])
        for (const grouping of GROUPINGS) {
          const view = { filter, sort: { key, descending }, grouping };
          expect(read(viewPath(view))).toEqual(view);
        }
});

test("the default view has no parameters", () => {
  expect(viewPath({ filter: "  ", sort: DEFAULT_SORT, grouping: "none" })).toBe("/");
  expect(read("/")).toEqual({ filter: "", sort: DEFAULT_SORT, grouping: "none" });
});

test("unknown columns and groupings count as not given", () => {
  expect(read("/?sort=-nothing&group=color")).toEqual(read("/"));
});
