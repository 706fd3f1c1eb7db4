/** Keeps the zoom of the charts and the range in the address equal. */
import { useEffect, useRef } from "preact/hooks";
import { chartGroup, resetZoom } from "../../../chart/sync";
import { SYNC } from "./MetricChart";

/** Pause after which a range is put into the address and read in detail, in milliseconds: a wheel zooms in steps. */
const PAUSE = 120;

type Range = [number, number];

/** Shows a range in all charts, and returns the function to call when the user has zoomed one of them. */
export function useZoom(
  range: Range | undefined,
  onRange: (range: Range | undefined) => void,
): (low: number | null, high: number | null) => void {
  const timer = useRef(0);
  const latest = useRef(onRange);
  latest.current = onRange;
  useEffect(() => {
    if (range) chartGroup(SYNC).zoom.value = range;
    else resetZoom(SYNC);
  }, [range?.[0], range?.[1]]);
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      resetZoom(SYNC);
    },
    [],
  );
  return (low, high) => {
    clearTimeout(timer.current);
    const next: Range | undefined = low === null || high === null ? undefined : [rounded(low, high), rounded(high, low)];
    timer.current = window.setTimeout(() => latest.current(next), PAUSE);
  };
}

/** Returns an end of a range with as many digits as matter, which keeps the address short. */
function rounded(value: number, other: number): number {
  const digits = Math.max(0, Math.ceil(3 - Math.log10(Math.abs(value - other) || 1)));
  return Number(value.toFixed(Math.min(digits, 12)));
}
