/** The frame of a chart over a clock: header, plot, crosshair, marks, legend, menu, keyboard. */
import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { shownTheme } from "../app/theme";
import { Dialog } from "../ui/Dialog";
import { ChartHeader } from "./ChartHeader";
import { DataTable } from "./DataTable";
import { gutterFor, LEGEND_ABOVE } from "./layout";
import { EndLabels, LegendList, readingTexts } from "./Legend";
import { Marks } from "./Marks";
import type { PlotBox, PlotModel } from "./model";
import { Plot } from "./plot";
import { Readout } from "./Readout";
import { schedule, unschedule } from "./schedule";
import { chartGroup, newGroup } from "./sync";
import type { ChartProps } from "./types";
import { panned, within, zoomed, type Range } from "./view";

export interface FrameProps extends ChartProps {
  model: PlotModel;
  hidden?: ReadonlySet<string>;
  onToggle?: (key: string) => void;
  onEmphasize?: (key: string) => void;
  /** Called with the position of the pointer in the data; null if it has left the plot. */
  onPoint?: ((x: number | null, y: number | null) => void) | undefined;
  /** Whether the y axis is logarithmic, and how that is changed; missing if it cannot be. */
  log?: boolean;
  onLog?: (log: boolean) => void;
  isEnlarged?: boolean;
  /** Draws the chart in the dialog that enlarges it. */
  enlarged?: (height: number) => preact.ComponentChild;
}

const NONE: ReadonlySet<string> = new Set();

export function Frame(props: FrameProps) {
  const { model, title, xLabel, height = 160, sync, hidden = NONE, isEnlarged } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<Plot | null>(null);
  const box = useSignal<PlotBox | null>(null);
  const width = useSignal(0);
  const isVisible = useSignal(false);
  const pointer = useSignal<{ x: number; y: number | null } | null>(null);
  const dialog = useSignal<"" | "enlarged" | "table">("");
  const group = useMemo(() => (sync ? chartGroup(sync) : newGroup()), [sync]);
  const shownModel = useSignal(model);
  shownModel.value = model;
  const shownHeight = useSignal(height);
  shownHeight.value = height;
  const owner = useRef({});
  const madeKind = useRef("");
  const latest = useRef(props);
  latest.current = props;

  const position = props.position;
  const readAt = useComputed(() => group.cursor.value ?? position?.value ?? null);
  const limits = (): Range => latest.current.model.xRange ?? [0, 1];
  const view = (): Range => group.zoom.peek() ?? limits();
  const setView = (next: Range | null) => {
    group.zoom.value = next;
    latest.current.onZoom?.(next ? next[0] : null, next ? next[1] : null);
  };
  const setCursor = (x: number | null, y: number | null = null) => {
    group.cursor.value = x;
    pointer.value = x === null ? null : { x, y };
    latest.current.onPoint?.(x, y);
  };

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const resize = new ResizeObserver(() => (width.value = Math.floor(element.clientWidth)));
    const watch = new IntersectionObserver((entries) => (isVisible.value = entries.at(-1)?.isIntersecting ?? false), {
      rootMargin: "150px",
    });
    resize.observe(element);
    watch.observe(element);
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey || !box.peek()) return;
      event.preventDefault();
      const { left, width: size } = box.peek() as PlotBox;
      const share = (event.clientX - element.getBoundingClientRect().left - left) / size;
      const [low, high] = view();
      setView(zoomed([low, high], event.deltaY > 0 ? 1.25 : 0.8, low + share * (high - low), limits()));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => {
      unschedule(owner.current);
      resize.disconnect();
      watch.disconnect();
      element.removeEventListener("wheel", onWheel);
      plot.current?.destroy();
      plot.current = null;
    };
  }, []);

  useSignalEffect(() => {
    const current = shownModel.value;
    const zoom = group.zoom.value;
    const theme = shownTheme.value;
    const size = { width: width.value, height: shownHeight.value };
    if (!isVisible.value || !size.width || !host.current) return;
    schedule(owner.current, () => draw(current, zoom && within(zoom, limits()), theme, size));
  });

  function draw(current: PlotModel, zoom: Range | null, theme: "light" | "dark", size: { width: number; height: number }): void {
    const element = host.current;
    if (!element) return;
    const { xLabel: label } = latest.current;
    const gutterSize = gutterFor(current, size.width);
    // A new plot is made only if its axes are of another kind.
    const kind = `${current.isLog} ${gutterSize} ${label} ${current.yLabels?.join("\n") ?? ""}`;
    if (madeKind.current !== kind) {
      plot.current?.destroy();
      plot.current = null;
    }
    if (!plot.current) {
      madeKind.current = kind;
      const handlers = {
        onCursor: (x: number | null, y: number | null) => setCursor(x, y),
        onSelect: (next: Range) => setView(within(next, limits())),
        onReset: () => setView(null),
        onClick: (x: number) => latest.current.onPick?.(x),
        onDraw: (next: PlotBox) => (box.value = next),
      };
      plot.current = new Plot(element, current, theme, size, handlers, { xLabel: label, gutter: gutterSize });
    }
    plot.current.resize(size.width, size.height);
    plot.current.show(current, zoom, theme);
  }

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const now = view();
    const center = group.cursor.peek() ?? (now[0] + now[1]) / 2;
    const step = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    if (step && latest.current.onPick) return;
    if (step && event.shiftKey) setView(panned(now, step * 0.2, limits()));
    else if (step) setCursor(Math.max(now[0], Math.min(now[1], center + (step * (now[1] - now[0])) / 100)));
    else if (event.key === "+" || event.key === "=") setView(zoomed(now, 0.5, center, limits()));
    else if (event.key === "-") setView(zoomed(now, 2, center, limits()));
    else if (event.key === "0") setView(null);
    else if (event.key === "Escape" && (pointer.peek() || group.zoom.peek())) {
      if (pointer.peek()) setCursor(null);
      else setView(null);
    } else if (event.key === "Enter" && !isEnlarged) dialog.value = "enlarged";
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  const gutter = gutterFor(model, width.value);
  const summary = useMemo(() => summaryOf(title, xLabel, model), [title, xLabel, model]);
  const entries = model.legend;
  const hasList = props.hasLegend !== false && entries.length > 1 && entries.length <= LEGEND_ABOVE && !gutter;
  return (
    <section class="chart" aria-label={title}>
      <ChartHeader
        chart={props}
        cursor={readAt}
        model={shownModel}
        zoom={group.zoom}
        canvas={() => plot.current?.canvas}
        onReset={() => setView(null)}
        onOpen={(kindOfDialog) => (dialog.value = kindOfDialog)}
      />
      <div
        class="plot"
        tabIndex={0}
        role="group"
        aria-roledescription="chart"
        aria-label={summary}
        style={{ height: `${height}px` }}
        onKeyDown={onKeyDown}
        onBlur={() => pointer.peek()?.y === null && setCursor(null)}
      >
        <div ref={host} class="plot-host" />
        {!model.xRange && <p class="plot-empty">No values yet</p>}
        {isVisible.value && box.value && model.xRange && (
          <>
            {position && <Crosshair cursor={position} box={box.value} class="crosshair position" />}
            <Crosshair cursor={group.cursor} box={box.value} class="crosshair" />
            {gutter > 0 && <EndLabels model={model} box={box.value} gutter={gutter} />}
            {props.marks && <Marks marks={props.marks} box={box.value} />}
            <PointerReadout model={shownModel} box={box.value} xLabel={xLabel} pointer={pointer} />
          </>
        )}
      </div>
      <KeyboardReading model={shownModel} pointer={pointer} xLabel={xLabel} />
      {hasList && (
        <LegendList
          entries={entries}
          model={shownModel}
          cursor={readAt}
          hidden={hidden}
          onToggle={props.onToggle}
          onEmphasize={(key) => props.onEmphasize?.(key)}
        />
      )}
      {entries.length > LEGEND_ABOVE && <p class="legend-note">{entries.length} lines; point at one to see its name</p>}
      {props.footnote && <p class="legend-note" title={props.footnote}>{props.footnote}</p>}
      {dialog.value === "table" && <DataTable title={title} model={model} onClose={() => (dialog.value = "")} />}
      {dialog.value === "enlarged" && (
        <Dialog title={title} onClose={() => (dialog.value = "")} className="enlarged">
          {props.enlarged?.(Math.max(240, window.innerHeight - 220))}
        </Dialog>
      )}
    </section>
  );
}

function Crosshair({ cursor, box, class: name }: { cursor: ReadonlySignal<number | null>; box: PlotBox; class: string }) {
  const x = cursor.value;
  if (x === null || x < box.view[0] || x > box.view[1]) return null;
  return (
    <div class={name} style={{ left: `${box.toX(x)}px`, top: `${box.top}px`, height: `${box.height}px` }} />
  );
}

interface PointerProps {
  model: ReadonlySignal<PlotModel>;
  /** The crosshair of this chart; `y` is null if the keyboard moved it. */
  pointer: ReadonlySignal<{ x: number; y: number | null } | null>;
  xLabel: string;
}

function PointerReadout({ model, pointer, xLabel, box }: PointerProps & { box: PlotBox }) {
  const at = pointer.value;
  return at && <Readout model={model.value} box={box} xLabel={xLabel} {...at} />;
}

/** Reads the values out when the crosshair is moved with the keyboard. */
function KeyboardReading({ model, pointer, xLabel }: PointerProps) {
  const text = useComputed(() => {
    const at = pointer.value;
    if (!at || at.y !== null) return "";
    const readings = model.value.readings(at.x).slice(0, 5);
    const values = readings.map(({ label, value }) => `${label} ${value === null ? "none" : model.value.format(value)}`);
    return `${Math.round(readings[0]?.x ?? at.x)} ${xLabel}: ${values.join(", ")}`;
  });
  return (
    <div class="visually-hidden" aria-live="polite">
      {text}
    </div>
  );
}

function summaryOf(title: string, xLabel: string, model: PlotModel): string {
  const texts = readingTexts(model, null, 5);
  const values = model.legend.slice(0, 5).map(({ key, label }) => `${label} ${texts.get(key) ?? "none"}`);
  const more = model.legend.length > 5 ? ` and ${model.legend.length - 5} more` : "";
  const last = model.xRange ? `Last values: ${values.join(", ")}${more}.` : "No values yet.";
  return `${title} over ${xLabel}. ${last} Plus and minus zoom, arrows move the crosshair, enter enlarges.`;
}
