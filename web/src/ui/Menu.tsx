/** A button that opens a menu: arrow keys move, enter chooses, Escape closes. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { place } from "./popover";

export interface MenuItem {
  label: ComponentChildren;
  run: () => void;
  danger?: boolean;
  /** Why it cannot be chosen now. */
  disabledReason?: string | undefined;
  /** For menus that choose one of several: whether it is the present one. */
  checked?: boolean;
}

interface Props {
  label: ComponentChildren;
  /** Name for screen readers, if the label is a symbol. */
  name?: string;
  items: MenuItem[];
  class?: string;
  align?: "start" | "end";
}

export function Menu({ label, name, items, class: extra = "button", align = "start" }: Props) {
  const open = useSignal(false);
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const close = (focus: boolean) => {
    open.value = false;
    if (focus) button.current?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={extra}
        aria-label={name}
        title={name}
        aria-haspopup="menu"
        aria-expanded={open.value}
        aria-controls={open.value ? id : undefined}
        onClick={() => (open.value = !open.value)}
        onKeyDown={(event) => {
          if (event.key !== "ArrowDown") return;
          event.preventDefault();
          open.value = true;
        }}
      >
        {label}
      </button>
      {open.value && <Items id={id} items={items} button={button} align={align} close={close} />}
    </>
  );
}

interface ItemsProps {
  id: string;
  items: MenuItem[];
  button: { current: HTMLButtonElement | null };
  align: "start" | "end";
  close: (focus: boolean) => void;
}

function Items({ id, items, button, align, close }: ItemsProps) {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = list.current;
    if (!element) return undefined;
    element.showPopover?.();
    if (button.current) place(element, button.current, align);
    element.querySelector<HTMLElement>("[role^=menuitem]")?.focus();
    const onDown = (event: Event) => {
      const target = event.target as Node;
      if (!element.contains(target) && !button.current?.contains(target)) close(false);
    };
    document.addEventListener("pointerdown", onDown, true);
    return () => document.removeEventListener("pointerdown", onDown, true);
  }, []);
  const move = (step: number | "first" | "last") => {
    const entries = [...(list.current?.querySelectorAll<HTMLElement>("[role^=menuitem]") ?? [])];
    const at = entries.indexOf(document.activeElement as HTMLElement);
    const next = step === "first" ? 0 : step === "last" ? entries.length - 1 : (at + step + entries.length) % entries.length;
    entries[next]?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number | "first" | "last"> = { ArrowDown: 1, ArrowUp: -1, Home: "first", End: "last" };
    const step = moves[event.key];
    if (step !== undefined) move(step);
    else if (event.key === "Escape" || event.key === "Tab") close(event.key === "Escape");
    else return;
    if (event.key !== "Tab") event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div ref={list} id={id} class="menu" role="menu" popover="manual" onKeyDown={onKeyDown}>
      {items.map((item, i) => (
        <button
          key={i}
          type="button"
          role={item.checked === undefined ? "menuitem" : "menuitemradio"}
          aria-checked={item.checked}
          tabIndex={-1}
          class={item.danger ? "danger" : undefined}
          aria-disabled={item.disabledReason ? true : undefined}
          title={item.disabledReason}
          onClick={() => {
            if (item.disabledReason) return;
            close(true);
            item.run();
          }}
        >
          {item.label}
        </button>
      ))}
    </div>
  );
}
