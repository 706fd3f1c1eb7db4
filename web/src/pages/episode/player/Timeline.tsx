/** The timeline: the value over the episode, key moments as marks, and the current step. Drag to scrub. */
import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { shownTheme } from "../../../app/theme";
import { resolved } from "../../../chart/colors";
import { place } from "../../../ui/popover";
import { useEpisode } from "../store";
import { valueColumns } from "../valueColumns";
import { MomentShape } from "./MomentShape";
import { momentStyle } from "./moments";
import { clusteredMoments, envelope, shareOf, stepAt, type MomentCluster } from "./timeline";

const HEIGHT = 40;
/** Pixels inside the edges, so that the handle of the first and last step is whole. */
const INSET = 6;

export function Timeline() {
  const store = useEpisode();
  const track = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const element = track.current;
    if (!element) return undefined;
    const observer = new ResizeObserver(() => (width.value = element.clientWidth - 2 * INSET));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useSignalEffect(() => {
    const names = valueColumns((name) => store.column(name) !== undefined);
    const values = store.numbers(names?.value ?? "reward_so_far_raw");
    drawCurve(canvas.current, values, width.value, shownTheme.value, store.variation.value, store.length.value);
  });
  const handle = useComputed(() => `left:${(INSET - 1 + shareOf(store.shown.value, store.length.value) * width.value).toFixed(1)}px`);
  const text = useComputed(() => `step ${store.shown.value} of ${store.length.value}`);
  const seek = (event: PointerEvent) => {
    const left = track.current?.getBoundingClientRect().left ?? 0;
    store.seek(stepAt(event.clientX - left - INSET, width.peek(), store.length.peek()));
  };
  return (
    <div class="episode-timeline">
      <Marks width={width.value} />
      <div
        ref={track}
        class="episode-track"
        role="slider"
        tabIndex={0}
        aria-label="Step"
        aria-valuemin={0}
        aria-valuemax={store.length}
        aria-valuenow={store.shown}
        aria-valuetext={text}
        style={{ height: `${HEIGHT}px` }}
        onPointerDown={(event) => {
          if (event.button !== 0) return;
          event.currentTarget.setPointerCapture(event.pointerId);
          store.playing.value = false;
          seek(event);
        }}
        onPointerMove={(event) => event.currentTarget.hasPointerCapture(event.pointerId) && seek(event)}
      >
        <canvas ref={canvas} aria-hidden="true" />
        <div class="episode-handle" style={handle} />
      </div>
    </div>
  );
}

function Marks({ width }: { width: number }) {
  const store = useEpisode();
  const shown = useSignal<{ cluster: MomentCluster; element: HTMLElement } | null>(null);
  const moments = store.moments.value;
  const length = store.length.value;
  const clusters = useMemo(() => clusteredMoments(moments, length, width), [moments, length, width]);
  const find = (target: EventTarget | null) => {
    const element = target instanceof Element ? target.closest<HTMLElement>("[data-mark]") : null;
    const cluster = element && clusters[Number(element.dataset["mark"])];
    return element && cluster ? { cluster, element } : null;
  };
  const open = (target: EventTarget | null) => {
    const first = find(target)?.cluster.moments[0];
    if (first) store.seek(first.step);
  };
  return (
    <div
      class="episode-timeline-marks"
      role="group"
      aria-label="Key moments on the timeline"
      style={{ margin: `0 ${INSET}px` }}
      onPointerOver={(event) => (shown.value = find(event.target))}
      onPointerLeave={() => (shown.value = null)}
      onFocusCapture={(event) => (shown.value = find(event.target))}
      onBlurCapture={() => (shown.value = null)}
      onClick={(event) => open(event.target)}
    >
      {width > 0 &&
        clusters.map((cluster, i) => (
          <button
            key={i}
            type="button"
            data-mark={i}
            class={`episode-mark ${momentStyle(cluster.kind).tone}`}
            tabIndex={-1}
            aria-label={cluster.moments.map((moment) => `step ${moment.step}: ${momentStyle(moment.kind).label}`).join("; ")}
            style={{ left: `${cluster.share * 100}%` }}
          >
            <MomentShape kind={cluster.kind} />
          </button>
        ))}
      {shown.value && <MarkText {...shown.value} />}
    </div>
  );
}

function MarkText({ cluster, element }: { cluster: MomentCluster; element: HTMLElement }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.showPopover?.();
    if (box.current) place(box.current, element);
  });
  return (
    <div ref={box} class="tooltip mark-text" role="tooltip" popover="manual">
      {cluster.moments.slice(0, 8).map((moment, i) => (
        <div key={i}>
          <MomentShape kind={moment.kind} /> <span class="num">{moment.step}</span> {momentStyle(moment.kind).label}: {moment.text}
        </div>
      ))}
      {cluster.moments.length > 8 && <div class="muted">and {cluster.moments.length - 8} more</div>}
    </div>
  );
}

function drawCurve(
  canvas: HTMLCanvasElement | null,
  values: Float64Array | undefined,
  width: number,
  theme: "light" | "dark",
  variation: { step: number } | null,
  length: number,
): void {
  if (!canvas || width <= 0) return;
  const ratio = window.devicePixelRatio;
  canvas.width = Math.round((width + 2 * INSET) * ratio);
  canvas.height = Math.round(HEIGHT * ratio);
  const context = canvas.getContext("2d");
  if (!context) return;
  context.scale(ratio, ratio);
  context.translate(INSET, 0);
  if (variation && length) {
    context.fillStyle = resolved("var(--bg-selected)", theme);
    context.fillRect((variation.step / length) * width, 0, width * (1 - variation.step / length), HEIGHT);
  }
  if (!values?.length) return;
  const { low, high } = envelope(values, Math.max(1, Math.floor(width)));
  const [bottom, top] = [Math.min(0, ...finite(low)), Math.max(0, ...finite(high))];
  const y = (value: number) => HEIGHT - 3 - ((value - bottom) / (top - bottom || 1)) * (HEIGHT - 6);
  context.fillStyle = resolved("var(--series-0)", theme);
  for (let x = 0; x < low.length; x++) {
    const [from, to] = [low[x] as number, high[x] as number];
    if (Number.isNaN(from)) continue;
    context.globalAlpha = 0.22;
    const [zero, end] = [y(0), y(Math.abs(to) > Math.abs(from) ? to : from)];
    context.fillRect(x, Math.min(zero, end), 1, Math.abs(end - zero));
    context.globalAlpha = 1;
    context.fillRect(x, y(to) - 0.75, 1, Math.max(1.5, y(from) - y(to)));
  }
  context.globalAlpha = 0.5;
  context.fillStyle = resolved("var(--border-strong)", theme);
  context.fillRect(0, y(0), width, 1);
  context.globalAlpha = 1;
}

function finite(values: Float64Array): number[] {
  return Array.from(values).filter(Number.isFinite);
}
