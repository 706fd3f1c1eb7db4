/** Which rows of a long table are drawn. Pure functions. */

export interface Visible {
  first: number;
  /** One after the last. */
  end: number;
}

/** Returns the rows that a view shows, with some before and after it. `top`: pixels of the table above the
 * view. */
export function visibleRows(top: number, view: number, rowHeight: number, count: number, extra = 12): Visible {
  const first = Math.max(0, Math.floor(top / rowHeight) - extra);
  const end = Math.min(count, Math.ceil((top + view) / rowHeight) + extra);
  // Rows stay even or odd while one scrolls, so that stripes do not flicker.
  return { first: Math.min(first - (first % 2), count), end: Math.max(end, Math.min(first, count)) };
}
