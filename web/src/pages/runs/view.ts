/** What the runs page shows, as it is written in its address: filter, order and grouping. */

export const GROUPINGS = ["none", "environment", "variant", "seeds"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface Sort {
  /** Id of a column. */
  column: string;
  descending: boolean;
}

export interface View {
  /** Words as for `gymnast runs`. */
  filter: string;
  sort: Sort;
  grouping: Grouping;
}

/** The newest run first: the smallest age. */
export const DEFAULT_SORT: Sort = { column: "age", descending: false };

/** Returns the view that an address describes; unknown columns and groupings count as not given. */
export function parseView(params: URLSearchParams, columns: readonly string[]): View {
  const text = params.get("sort") ?? "";
  const column = text.replace(/^-/, "");
  const grouping = params.get("group") ?? "none";
  return {
    filter: params.get("filter") ?? "",
    sort: columns.includes(column) ? { column, descending: text.startsWith("-") } : DEFAULT_SORT,
    grouping: isGrouping(grouping) ? grouping : "none",
  };
}

/** Returns the path and query of a view; what is as by default is left out. */
export function viewPath(view: View): string {
  const params = new URLSearchParams();
  if (view.filter.trim()) params.set("filter", view.filter.trim());
  const { column, descending } = view.sort;
  if (column !== DEFAULT_SORT.column || descending !== DEFAULT_SORT.descending)
    params.set("sort", `${descending ? "-" : ""}${column}`);
  if (view.grouping !== "none") params.set("group", view.grouping);
  const query = params.toString();
  return query ? `/?${query}` : "/";
}

export function isGrouping(text: string): text is Grouping {
  return (GROUPINGS as readonly string[]).includes(text);
}
