/** The width of an element, measured again when it changes. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export function useWidth() {
  const host = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const resize = new ResizeObserver(() => (width.value = Math.floor(element.clientWidth)));
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  return { host, width };
}
