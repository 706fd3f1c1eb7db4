/** Marks that are too close to each other are drawn as one. Pure functions. */
import type { ChartMark, MarkKind } from "./types";

export interface Cluster {
  /** CSS pixels from the left edge of the plot. */
  left: number;
  marks: ChartMark[];
  /** The kind that is drawn: the most important one. */
  kind: MarkKind;
  level: "error" | "warning" | undefined;
}

const IMPORTANCE: MarkKind[] = ["alert", "rollback", "change", "stage", "resume", "checkpoint", "evaluation"];

/** Returns marks in clusters at least `gap` pixels apart, from left to right. */
export function clustered(marks: readonly ChartMark[], toX: (x: number) => number, width: number, gap = 10): Cluster[] {
  const placed = marks
    .map((mark) => ({ mark, left: toX(mark.x) }))
    .filter(({ left }) => left >= -1 && left <= width + 1)
    .sort((a, b) => a.left - b.left);
  const clusters: Cluster[] = [];
  for (const { mark, left } of placed) {
    const last = clusters.at(-1);
    if (last && left - last.left < gap) last.marks.push(mark);
    else clusters.push({ left, marks: [mark], kind: mark.kind, level: mark.level });
  }
  for (const cluster of clusters) {
    const first = [...cluster.marks].sort((a, b) => IMPORTANCE.indexOf(a.kind) - IMPORTANCE.indexOf(b.kind))[0];
    cluster.kind = first?.kind ?? cluster.kind;
    cluster.level = cluster.marks.some((mark) => mark.level === "error") ? "error" : first?.level;
  }
  return clusters;
}
