/** The current step once the user has stopped moving, so that only steps that are looked at are asked about. */
import { effect, useSignal, type ReadonlySignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

const PAUSE = 200;

export function useSettled<T>(moving: ReadonlySignal<T>): ReadonlySignal<T> {
  const settled = useSignal(moving.peek());
  useEffect(() => {
    let timer = 0;
    const stop = effect(() => {
      const value = moving.value;
      clearTimeout(timer);
      timer = window.setTimeout(() => (settled.value = value), PAUSE);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [moving]);
  return settled;
}
