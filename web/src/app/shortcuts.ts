/** Keyboard shortcuts. Those of the components on the page are active, and listed by `?`. */
import { signal, type ReadonlySignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { keyName, pressed } from "./keys";

export interface Shortcut {
  keys: string;
  description: string;
  run: () => void;
}

const active = signal<Shortcut[]>([]);
export const shortcuts: ReadonlySignal<Shortcut[]> = active;

/** Runs a function when keys are pressed (`j`, `ctrl+k`, `g r`), except while the user types in a field.
 * If several components have the same keys, the latest one wins. An empty description is not listed. */
export function useShortcut(keys: string, description: string, run: () => void): void {
  const latest = useRef(run);
  latest.current = run;
  // Not useEffect, which waits for a frame: what is on the page reacts to keys at once.
  useLayoutEffect(() => {
    const shortcut = { keys, description, run: () => latest.current() };
    active.value = [...active.peek(), shortcut];
    return () => {
      active.value = active.peek().filter((other) => other !== shortcut);
    };
  }, [keys, description]);
}

const PAUSE = 1000;
let recent: string[] = [];
let last = 0;

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing) return;
  const name = keyName(event);
  if (isTyping(event.target) && !name.startsWith("ctrl+")) return;
  if (document.querySelector("dialog[open]")) return;
  if (event.timeStamp - last > PAUSE) recent = [];
  last = event.timeStamp;
  recent = [...recent, name].slice(-3);
  for (const shortcut of [...active.peek()].reverse()) {
    const sequence = shortcut.keys.split(" ");
    if (pressed(sequence, recent) !== sequence.length) continue;
    // A focused button or link has its own meaning of enter and space.
    if ((name === "enter" || name === "space") && isControl(event.target)) continue;
    event.preventDefault();
    recent = [];
    shortcut.run();
    return;
  }
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  const buttons = ["checkbox", "radio", "button", "submit", "range"];
  return target instanceof HTMLInputElement && !buttons.includes(target.type);
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("a, button, summary, [role=menuitem], [role=tab]") !== null;
}

document.addEventListener("keydown", onKey);
