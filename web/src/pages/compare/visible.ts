/** Whether an element is on the screen, and how wide it is. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect } from "preact/hooks";

/** Returns true once the element has been near the screen: charts far below are read only when needed. */
export function useSeen(element: RefObject<Element | null>): ReadonlySignal<boolean> {
  const seen = useSignal(false);
  useEffect(() => {
    if (!element.current || seen.peek()) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        seen.value = true;
        observer.disconnect();
      },
      { rootMargin: "300px" },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return seen;
}
