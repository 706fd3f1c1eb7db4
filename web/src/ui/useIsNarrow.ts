import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

/** Returns whether the window is as narrow as a phone. */
export function useIsNarrow(): boolean {
  const query = window.matchMedia("(max-width: 720px)");
  const isNarrow = useSignal(query.matches);
  useEffect(() => {
    const update = () => (isNarrow.value = query.matches);
    query.addEventListener("change", update);
    return () => query.removeEventListener("change", update);
  }, []);
  return isNarrow.value;
}
