/** Lines over a clock: bands, smoothing, marks, healthy ranges, zoom, a shared crosshair. */
import { useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { shownTheme } from "../app/theme";
import { Frame } from "./Frame";
import { LineModel } from "./lineModel";
import type { Reading } from "./model";
import { closestTo } from "./Readout";
import type { LineChartProps } from "./types";
export type { ChartLine, ChartMark, LineChartProps, LineSeries, MarkKind } from "./types";

export function LineChart(props: LineChartProps & { isEnlarged?: boolean }) {
  const hidden = useSignal<ReadonlySet<string>>(new Set());
  const emphasized = useSignal("");
  const chosenLog = useSignal<boolean | undefined>(undefined);
  const log = chosenLog.value ?? props.log ?? false;
  const theme = shownTheme.value;
  const { series, smoothing, lines, healthy, bounds, range, xRange, yRange, unit, digits, xLabel } = props;
  const first = emphasized.value || (props.highlighted ?? "");
  const model = useMemo(
    () => new LineModel({ ...props, log }, theme, hidden.value, first),
    [series, smoothing, lines, healthy, bounds, range, xRange, yRange, unit, digits, xLabel, log, theme, hidden.value, first],
  );
  const toggle = (key: string) => {
    const next = new Set(hidden.value);
    if (!next.delete(key)) next.add(key);
    hidden.value = next;
  };
  return (
    <Frame
      {...props}
      model={model}
      hidden={hidden.value}
      onToggle={toggle}
      onEmphasize={(key) => {
        emphasized.value = key;
        props.onHover?.(key === "" ? null : key);
      }}
      onPoint={props.onHover && ((x, y) => props.onHover?.(x === null || y === null ? null : (closestTo(known(model.readings(x)), y, log)?.key ?? null)))}
      log={log}
      onLog={(next) => (chosenLog.value = next)}
      enlarged={(height) => <LineChart {...props} log={log} height={height} isEnlarged />}
    />
  );
}

function known(readings: Reading[]): Reading[] {
  return readings.filter((reading) => reading.y !== null);
}
