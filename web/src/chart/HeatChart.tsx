/** A heat map over a clock: one row for each category. */
import { useMemo } from "preact/hooks";
import { shownTheme } from "../app/theme";
import { Frame } from "./Frame";
import { HeatModel } from "./heatModel";
import type { HeatChartProps } from "./types";

export function HeatChart(props: HeatChartProps & { isEnlarged?: boolean }) {
  const theme = shownTheme.value;
  const { x, rows, xRange, xLabel, height } = props;
  const model = useMemo(() => new HeatModel(props, theme), [x, rows, xRange, xLabel, height, theme]);
  return <Frame {...props} model={model} enlarged={(size) => <HeatChart {...props} height={size} isEnlarged />} />;
}
