/** Shares of a sum over a clock, as stacked areas. */
import { useMemo } from "preact/hooks";
import { shownTheme } from "../app/theme";
import { Frame } from "./Frame";
import { StackedModel } from "./stackedModel";
import type { StackedChartProps } from "./types";

export function StackedChart(props: StackedChartProps & { isEnlarged?: boolean }) {
  const theme = shownTheme.value;
  const { series, xRange, xLabel } = props;
  const model = useMemo(() => new StackedModel(props, theme), [series, xRange, xLabel, theme]);
  return <Frame {...props} model={model} enlarged={(height) => <StackedChart {...props} height={height} isEnlarged />} />;
}
