/** Which side stands out: the one that the pointer is on, in a list or in a chart. */
import { useSignal, type ReadonlySignal } from "@preact/signals";
import { useCallback, useEffect, useRef } from "preact/hooks";

const PAUSE = 60;

export interface Highlight {
  /** Reference of the side that stands out in lists; empty for none. */
  listed: ReadonlySignal<string>;
  /** Reference of the side that stands out in charts. */
  drawn: ReadonlySignal<string>;
  /** Called when the pointer is on a side of a list; empty when it has left. */
  onList: (ref: string) => void;
  /** Called when the pointer is on a line of a chart. */
  onChart: (ref: string) => void;
}

/** `redraws`: whether charts are drawn again while the pointer moves over them; too slow with many lines, where the
 * readout at the pointer names the line. */
export function useHighlight(redraws: boolean): Highlight {
  const listed = useSignal("");
  const drawn = useSignal("");
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const draws = useRef(redraws);
  draws.current = redraws;
  const draw = useCallback((ref: string) => {
    clearTimeout(timer.current);
    if (drawn.peek() !== ref) timer.current = setTimeout(() => (drawn.value = ref), PAUSE);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  const onList = useCallback((ref: string) => {
    listed.value = ref;
    draw(ref);
  }, []);
  const onChart = useCallback((ref: string) => {
    listed.value = ref;
    if (draws.current) draw(ref);
  }, []);
  return { listed, drawn, onList, onChart };
}
