/** Places floating elements next to their trigger, inside the window. */

/** Returns the corner of a box of `width` x `height` below the trigger, or above it if there is more room.
 * It stays inside the window. */
export function placedAt(
  trigger: { left: number; right: number; top: number; bottom: number },
  box: { width: number; height: number },
  screen: { width: number; height: number },
  gap = 4,
  align: "start" | "end" = "start",
): { left: number; top: number } {
  const margin = 8;
  const below = screen.height - trigger.bottom - gap - margin;
  const above = trigger.top - gap - margin;
  const isBelow = box.height <= below || below >= above;
  const top = isBelow ? trigger.bottom + gap : trigger.top - gap - box.height;
  const left = align === "start" ? trigger.left : trigger.right - box.width;
  return {
    left: Math.max(margin, Math.min(left, screen.width - box.width - margin)),
    top: Math.max(margin, Math.min(top, screen.height - box.height - margin)),
  };
}

/** Moves an element next to its trigger. */
export function place(element: HTMLElement, trigger: Element, align: "start" | "end" = "start"): void {
  const { offsetWidth: width, offsetHeight: height } = element;
  const screen = { width: document.documentElement.clientWidth, height: window.innerHeight };
  const { left, top } = placedAt(trigger.getBoundingClientRect(), { width, height }, screen, 4, align);
  element.style.left = `${left}px`;
  element.style.top = `${top}px`;
}
