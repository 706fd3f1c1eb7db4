/** Selection of rows by id. Every function returns a new selection and leaves its argument as it was. */

export interface Selection {
  ids: ReadonlySet<string>;
  /** The row that was selected last: a range starts there. */
  anchor: string | null;
}

export const NOTHING_SELECTED: Selection = { ids: new Set(), anchor: null };

export function toggle(selection: Selection, id: string): Selection {
  const ids = new Set(selection.ids);
  if (!ids.delete(id)) ids.add(id);
  return { ids, anchor: id };
}

/** Adds all rows between the anchor and `id`; only toggles `id` if the anchor is not in `order`. */
export function selectRange(selection: Selection, id: string, order: readonly string[]): Selection {
  const from = selection.anchor === null ? -1 : order.indexOf(selection.anchor);
  const to = order.indexOf(id);
  if (from < 0 || to < 0) return toggle(selection, id);
  const between = order.slice(Math.min(from, to), Math.max(from, to) + 1);
  return { ids: new Set([...selection.ids, ...between]), anchor: id };
}

/** Selects all of `group`, or none of them if all are selected. */
export function toggleAll(selection: Selection, group: readonly string[]): Selection {
  const ids = new Set(selection.ids);
  const all = group.every((id) => ids.has(id));
  for (const id of group) {
    if (all) ids.delete(id);
    else ids.add(id);
  }
  return { ids, anchor: selection.anchor };
}

/** Keeps the selected rows that still exist; returns the same object if all do. */
export function keepExisting(selection: Selection, exists: (id: string) => boolean): Selection {
  const kept = [...selection.ids].filter(exists);
  if (kept.length === selection.ids.size) return selection;
  const anchor = selection.anchor !== null && exists(selection.anchor) ? selection.anchor : null;
  return { ids: new Set(kept), anchor };
}
