/** Help that appears on hover and on focus, and disappears on Escape. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { place } from "./popover";

interface Props {
  /** What is shown; nothing happens if it is empty. */
  content: ComponentChildren | (() => ComponentChildren) | undefined;
  children: ComponentChildren;
  /** Whether the trigger can be focused itself; leave out if a child can (a button, a link). */
  focusable?: boolean;
  /** Milliseconds before it appears on hover. */
  delay?: number;
  class?: string;
}

export function Tooltip({ content, children, focusable, delay = 250, class: extra = "" }: Props) {
  const shown = useSignal(false);
  const id = useId();
  const trigger = useRef<HTMLSpanElement>(null);
  const timer = useRef(0);
  const show = (wait: number) => {
    clearTimeout(timer.current);
    if (content) timer.current = window.setTimeout(() => (shown.value = true), wait);
  };
  const hide = () => {
    clearTimeout(timer.current);
    shown.value = false;
  };
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <span
      ref={trigger}
      class={`tooltip-trigger ${extra}`}
      tabIndex={focusable ? 0 : undefined}
      aria-describedby={shown.value ? id : undefined}
      onPointerEnter={(event) => event.pointerType === "mouse" && show(delay)}
      onPointerLeave={hide}
      onFocusCapture={() => show(0)}
      onBlurCapture={hide}
      onClick={focusable ? () => show(0) : undefined}
      onKeyDown={(event) => event.key === "Escape" && shown.value && (hide(), event.stopPropagation())}
    >
      {children}
      {shown.value && content && (
        <Floating id={id} trigger={trigger}>
          {typeof content === "function" ? content() : content}
        </Floating>
      )}
    </span>
  );
}

function Floating({ id, trigger, children }: { id: string; trigger: { current: Element | null }; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    element.showPopover?.(); // the top layer, above dialogs and clipped areas
    if (trigger.current) place(element, trigger.current.firstElementChild ?? trigger.current);
  });
  return (
    <div ref={box} id={id} class="tooltip" role="tooltip" popover="manual">
      {children}
    </div>
  );
}
