/** Draws its content only while it is near the visible part of the page, with its final size from the start. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  /** Makes the content; not called while it is far away, so that nothing is updated there. */
  children: () => ComponentChildren;
  /** Height before the content was drawn for the first time, in pixels. */
  height: number;
  class?: string;
}

const MARGIN = "300px";

export function Lazily({ children, height, class: extra = "" }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const near = useSignal(false);
  const last = useRef<ComponentChildren>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return undefined;
    const observer = new IntersectionObserver(
      (entries) => (near.value = entries.some((entry) => entry.isIntersecting)),
      { rootMargin: MARGIN },
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  // The same element as before: preact leaves it as it is.
  if (near.value) last.current = children();
  return (
    <div ref={box} class={`lazily ${extra}`} style={{ minHeight: `${height}px` }}>
      {last.current}
    </div>
  );
}
