/** The values at the crosshair, next to the pointer. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { formatCount, fullPrecision, rounded } from "../ui/numbers";
import { Swatch } from "./Legend";
import type { PlotBox, PlotModel, Reading } from "./model";

const LISTED = 10;

interface Props {
  model: PlotModel;
  box: PlotBox;
  x: number;
  /** Position of the pointer on the y axis; null if the crosshair was moved with the keyboard. */
  y: number | null;
  xLabel: string;
}

export function Readout({ model, box, x, y, xLabel }: Props) {
  const element = useRef<HTMLDivElement>(null);
  const isExact = useSignal(false);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => (isExact.value = event.altKey);
    window.addEventListener("keydown", onKey);
    window.addEventListener("keyup", onKey);
    return () => {
      window.removeEventListener("keydown", onKey);
      window.removeEventListener("keyup", onKey);
    };
  }, []);
  useEffect(() => {
    const node = element.current;
    if (!node) return;
    // On the side of the crosshair with more room, and inside the chart's height if it fits.
    const at = box.toX(x) - box.left;
    const isLeft = at > box.width / 2;
    node.style.left = isLeft ? "" : `${box.left + at + 10}px`;
    node.style.right = isLeft ? `calc(100% - ${box.left + at - 10}px)` : "";
    const middle = y === null ? box.height / 2 : box.toY(y) - box.top;
    node.style.top = `${box.top + Math.max(0, Math.min(box.height - node.offsetHeight, middle - node.offsetHeight / 2))}px`;
  });
  const readings = model.readings(x);
  const listed = chosen(readings, y, model.isLog);
  const closest = y === null ? undefined : closestTo(listed, y, model.isLog)?.key;
  const text = (value: number) => (isExact.value ? fullPrecision(value) : model.format(value));
  const position = listed[0]?.x ?? x;
  return (
    <div ref={element} class="readout" aria-hidden="true">
      <div class="readout-x">
        {Number.isInteger(position) ? formatCount(position) : rounded(position, 2)} {xLabel}
      </div>
      {listed.map(({ key, label, color, dash, value, low, high }) => (
        <div key={key} class={key === closest ? "readout-row closest" : "readout-row"}>
          <Swatch color={color} dash={dash} />
          <span class="readout-label">{label}</span>
          <span class="num">{value === null ? "-" : text(value)}</span>
          {typeof low === "number" && typeof high === "number" && (
            <span class="num muted">
              [{text(low)}, {text(high)}]
            </span>
          )}
        </div>
      ))}
      {readings.length > listed.length && <div class="muted">and {readings.length - listed.length} more</div>}
    </div>
  );
}

/** Returns the readings to list, the highest first: all, or the nearest to the pointer if there are many. */
export function chosen(readings: Reading[], y: number | null, isLog: boolean): Reading[] {
  const known = readings.filter((reading) => reading.value !== null);
  const near = known.length <= LISTED || y === null ? known : [...known].sort((a, b) => distance(a, y, isLog) - distance(b, y, isLog));
  return near.slice(0, LISTED).sort((a, b) => (b.value ?? 0) - (a.value ?? 0));
}

export function closestTo(readings: Reading[], y: number, isLog: boolean): Reading | undefined {
  return readings.reduce<Reading | undefined>(
    (best, reading) => (!best || distance(reading, y, isLog) < distance(best, y, isLog) ? reading : best),
    undefined,
  );
}

function distance(reading: Reading, y: number, isLog: boolean): number {
  if (reading.y === null) return Infinity;
  return isLog ? Math.abs(Math.log(reading.y / y)) : Math.abs(reading.y - y);
}
