/** Marks along the top edge of a plot, and alerts as triangles on its axis. */
import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import { navigate } from "../app/router";
import { place } from "../ui/popover";
import { clustered, type Cluster } from "./clusters";
import type { PlotBox } from "./model";
import type { ChartMark } from "./types";

const LISTED = 8;

interface Props {
  marks: readonly ChartMark[];
  box: PlotBox;
}

export function Marks({ marks, box }: Props) {
  const shown = useSignal<{ cluster: Cluster; element: HTMLElement } | null>(null);
  const id = useId();
  const toX = (x: number) => box.toX(x) - box.left;
  const top = clustered(marks.filter((mark) => mark.kind !== "alert"), toX, box.width);
  const alerts = clustered(marks.filter((mark) => mark.kind === "alert"), toX, box.width);
  const all = [...top, ...alerts];
  if (!all.length) return null;
  const find = (target: EventTarget | null) => {
    const element = target instanceof Element ? target.closest<HTMLElement>("[data-mark]") : null;
    const cluster = element && all[Number(element.dataset["mark"])];
    return element && cluster ? { cluster, element } : null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const entries = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[data-mark]")];
    if (step !== undefined) entries[entries.indexOf(event.target as HTMLElement) + step]?.focus();
    else if (event.key === "Escape" && shown.value) shown.value = null;
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="marks"
      role="group"
      aria-label="Marks"
      style={{ left: `${box.left}px`, top: `${box.top}px`, width: `${box.width}px`, height: `${box.height}px`, "--plot-height": `${box.height}px` }}
      onPointerOver={(event) => (shown.value = find(event.target))}
      onPointerLeave={() => (shown.value = null)}
      onFocusCapture={(event) => (shown.value = find(event.target))}
      onBlurCapture={() => (shown.value = null)}
      onClick={(event) => follow(find(event.target)?.cluster)}
      onKeyDown={onKeyDown}
    >
      {all.map((cluster, i) => (
        <button
          key={`${cluster.kind}${Math.round(cluster.left)}`}
          type="button"
          data-mark={i}
          class={`mark ${cluster.kind} ${cluster.level ?? ""}`}
          tabIndex={i === 0 ? 0 : -1}
          aria-label={textOf(cluster)}
          aria-describedby={undefined}
          style={{ left: `${cluster.left}px` }}
        />
      ))}
      {shown.value && <MarkText id={id} {...shown.value} />}
    </div>
  );
}

function textOf({ marks }: Cluster): string {
  const texts = marks.slice(0, LISTED).map((mark) => mark.text);
  return marks.length > LISTED ? `${texts.join("; ")}; and ${marks.length - LISTED} more` : texts.join("; ");
}

function MarkText({ id, cluster, element }: { id: string; cluster: Cluster; element: HTMLElement }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.showPopover?.();
    if (box.current) place(box.current, element);
  });
  const rest = cluster.marks.length - LISTED;
  return (
    <div ref={box} id={id} class="tooltip mark-text" role="tooltip" popover="manual">
      {cluster.marks.slice(0, LISTED).map((mark, i) => (
        <div key={i}>
          <span class={`mark-kind ${mark.level ?? ""}`}>{mark.kind}</span> {mark.text}
        </div>
      ))}
      {rest > 0 && <div class="muted">and {rest} more</div>}
    </div>
  );
}

/** Opens the address of a mark. */
function follow(cluster: Cluster | undefined): void {
  const target = cluster?.marks.find((mark) => mark.href)?.href;
  if (!target) return;
  // The guide is a page of its own.
  if (target.startsWith("/") && !target.startsWith("/guide")) navigate(target);
  else location.assign(new URL(target.replace(/^\//, ""), document.baseURI));
}
