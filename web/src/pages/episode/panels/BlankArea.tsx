/** A picture of the current step on which a part is chosen by dragging, or with the arrow keys. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { copyStage } from "./stagePicture";

/** Left, top, width and height, as shares of the picture. */
export type Area = readonly [x: number, y: number, width: number, height: number];
const MOVE = 0.05;

export function BlankArea({ blank }: { blank: Signal<Area | null> }) {
  const picture = useRef<HTMLCanvasElement>(null);
  const start = useSignal<{ x: number; y: number } | null>(null);
  useEffect(() => copyStage(picture.current));
  const at = (event: PointerEvent) => {
    const box = (event.currentTarget as HTMLElement).getBoundingClientRect();
    const share = (value: number) => Math.max(0, Math.min(1, value));
    return { x: share((event.clientX - box.left) / box.width), y: share((event.clientY - box.top) / box.height) };
  };
  return (
    <div
      class="episode-blank"
      role="application"
      tabIndex={0}
      aria-label="Part of the image to blank: drag, or use the arrow keys"
      onPointerDown={(event) => {
        start.value = at(event);
        (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => start.value && (blank.value = between(start.value, at(event)))}
      onPointerUp={() => (start.value = null)}
      onKeyDown={(event) => {
        const next = moved(blank.value, event.key);
        if (next === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        blank.value = next;
      }}
    >
      <canvas ref={picture} aria-hidden="true" />
      {blank.value && (
        <span
          class="episode-blank-box"
          style={{
            left: `${blank.value[0] * 100}%`,
            top: `${blank.value[1] * 100}%`,
            width: `${blank.value[2] * 100}%`,
            height: `${blank.value[3] * 100}%`,
          }}
        />
      )}
    </div>
  );
}

/** Returns the area between two corners; null if it is too small to be meant. */
export function between(a: { x: number; y: number }, b: { x: number; y: number }): Area | null {
  const [width, height] = [Math.abs(a.x - b.x), Math.abs(a.y - b.y)];
  return width < 0.01 || height < 0.01 ? null : [Math.min(a.x, b.x), Math.min(a.y, b.y), width, height];
}

/** Returns the area after a key: arrows move it, the first one makes it, escape and delete remove it. Undefined for
 * other keys. */
export function moved(area: Area | null, key: string): Area | null | undefined {
  if (key === "Escape" || key === "Delete") return null;
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [];
  if (dx === undefined || dy === undefined) return undefined;
  const [x, y, width, height] = area ?? [0.4, 0.4, 0.2, 0.2];
  const limit = (value: number, size: number) => Math.max(0, Math.min(1 - size, value));
  return [limit(x + dx * MOVE, width), limit(y + dy * MOVE, height), width, height];
}
