/** Explains columns on hover and focus: what they mean, their unit, and the value with all its digits. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { place } from "../../ui/popover";
import { DocText } from "../new/DocText";
import { exactText, sentence } from "./format";
import { useEpisode } from "./store";

const DELAY = 250;

interface Props {
  children: ComponentChildren;
  class?: string;
  /** Whether the value of the current step is shown too. */
  hasValue?: boolean;
}

/** Everything inside with `data-column` is explained. Arrow keys up and down move between those that can be focused. */
export function Explained({ children, class: extra = "", hasValue }: Props) {
  const shown = useSignal<{ column: string; element: HTMLElement } | null>(null);
  const timer = useRef(0);
  const show = (target: EventTarget | null, wait: number) => {
    clearTimeout(timer.current);
    const element = target instanceof Element ? target.closest<HTMLElement>("[data-column]") : null;
    if (element === shown.peek()?.element) return;
    const column = element?.dataset["column"];
    shown.value = null;
    if (element && column) timer.current = window.setTimeout(() => (shown.value = { column, element }), wait);
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const target = event.target as HTMLElement;
    if (event.key === "Escape" && shown.peek()) shown.value = null;
    else if (step !== undefined && target.dataset["column"]) {
      const all = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[data-column][tabindex]")];
      all[all.indexOf(target) + step]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class={extra}
      onPointerOver={(event) => event.pointerType === "mouse" && show(event.target, DELAY)}
      onPointerLeave={() => show(null, 0)}
      onFocusCapture={(event) => show(event.target, 0)}
      onBlurCapture={() => show(null, 0)}
      onClick={(event) => show(event.target, 0)}
      onKeyDown={onKeyDown}
    >
      {children}
      {shown.value && <Explanation {...shown.value} hasValue={hasValue ?? false} />}
    </div>
  );
}

function Explanation({ column, element, hasValue }: { column: string; element: HTMLElement; hasValue: boolean }) {
  const store = useEpisode();
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    box.current?.showPopover?.();
    if (box.current) place(box.current, element);
  });
  const inspection = store.inspection.value;
  const info = inspection?.columns.find(({ name }) => name === column);
  const component = inspection?.observations.find((found) => found.column === column);
  const range = component && (component.low !== null || component.high !== null) ? `${component.low ?? "-∞"} to ${component.high ?? "∞"}` : "";
  const facts: [string, string][] = [
    ["unit", info?.unit ?? ""],
    ["range", range],
    ["value", hasValue ? exactText(store.column(column)?.[store.shown.value]) : ""],
  ];
  return (
    <div ref={box} class="tooltip" role="tooltip" popover="manual">
      <div class="metric-help">
        <strong>{column}</strong>
        {component?.doc && <p>{sentence(component.doc)}</p>}
        {info?.doc && (
          <p>
            <DocText text={sentence(info.doc)} />
          </p>
        )}
        <dl>
          {facts
            .filter(([, text]) => text)
            .map(([name, text]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd class="num">{text}</dd>
              </div>
            ))}
        </dl>
      </div>
    </div>
  );
}
