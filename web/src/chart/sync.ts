/** Crosshair and zoom that several charts share. */
import { signal, type Signal } from "@preact/signals";
import type { Range } from "./view";

export interface ChartGroup {
  /** Position of the crosshair on the x axis; null without one. */
  cursor: Signal<number | null>;
  /** The part of the x axis that is shown; null for all. */
  zoom: Signal<Range | null>;
}

const groups = new Map<string, ChartGroup>();

export function newGroup(): ChartGroup {
  return { cursor: signal<number | null>(null), zoom: signal<Range | null>(null) };
}

/** Returns the group with a name; the same one for all charts. */
export function chartGroup(name: string): ChartGroup {
  let group = groups.get(name);
  if (!group) groups.set(name, (group = newGroup()));
  return group;
}

/** Forgets the zoom of a group, e.g. when its x axis shows another clock. */
export function resetZoom(name: string): void {
  const group = chartGroup(name);
  group.zoom.value = null;
  group.cursor.value = null;
}
