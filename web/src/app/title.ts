import { useEffect } from "preact/hooks";

/** Names the page in the browser's tab. A page may name itself more precisely than its address does. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title ? `${title} · gymnast` : "gymnast studio";
  }, [title]);
}
