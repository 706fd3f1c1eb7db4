/** Where a chart's legend is: at the ends of lines, or below. Pure functions. */
import type { PlotModel } from "./model";

/** Charts with more lines than this have no legend list. */
export const LEGEND_ABOVE = 14;
const AT_ENDS = 6;
const LETTER = 6.2;

/** Returns the width on the right for labels at the ends of lines; 0 if the legend is below. It depends only
 * on the labels and the width, so that new values move nothing. */
export function gutterFor(model: Pick<PlotModel, "legend" | "ends">, width: number): number {
  const { legend, ends } = model;
  if (!ends || legend.length < 2 || legend.length > AT_ENDS || width < 360) return 0;
  const needed = Math.ceil(Math.max(...legend.map(({ label }) => label.length)) * LETTER) + 10;
  return needed <= width * 0.3 ? Math.max(40, needed) : 0;
}
