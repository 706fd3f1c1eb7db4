/** What the runs page shows, as it is written in its address: filter, order and grouping. */

import type { Sort } from "../../ui/sorting";

export const GROUPINGS = ["none", "environment", "variant", "seeds"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface View {
  /** Words as for `gymnast runs`. */
  filter: string;
  sort: Sort;
  grouping: Grouping;
}

/** The newest run first: the smallest age. */
export const DEFAULT_SORT: Sort = { key: "age", descending: false };

/** Returns the view that an address describes; unknown columns and groupings count as not given. */
export function parseView(params: URLSearchParams, columns: readonly string[]): View {
  const text = params.get("sort") ?? "";
  const column = text.replace(/^-/, "");
  const grouping = params.get("group") ?? "none";
  return {
    filter: params.get("filter") ?? "",
    sort: columns.includes(column) ? { key: column, descending: text.startsWith("-") } : DEFAULT_SORT,
    grouping: isGrouping(grouping) ? grouping : "none",
  };
}

/** Returns the path and query of a view; what is as by default is left out. */
export function viewPath(view: View): string {
  const params = new URLSearchParams();
  if (view.filter.trim()) params.set("filter", view.filter.trim());
  const { key, descending } = view.sort;
  if (key !== DEFAULT_SORT.key || descending !== DEFAULT_SORT.descending)
    params.set("sort", `${descending ? "-" : ""}${key}`);
  if (view.grouping !== "none") params.set("group", view.grouping);
  const query = params.toString();
  return query ? `/?${query}` : "/";
}

export function isGrouping(text: string): text is Grouping {
  return (GROUPINGS as readonly string[]).includes(text);
}
