/** Keeps a view and the address of the page the same. */
import type { Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { navigate, route } from "../../app/router";

/** Browsers refuse to write addresses too often, as while a slider is dragged. */
const PAUSE = 300;

/** Writes the address after the view has changed, and calls `onLink` with the view of another address: a link to this
 * page, or the back button. `path` and `parse` are inverse. */
export function useAddress<T>(view: Signal<T>, path: (view: T) => string, parse: (params: URLSearchParams) => T, onLink: (view: T) => void): void {
  const { params } = route.value;
  const written = useRef(path(parse(params)));
  useEffect(() => {
    const next = path(view.value);
    if (next === written.current) return undefined;
    const timer = setTimeout(() => {
      written.current = next;
      navigate(next, { replace: true });
    }, PAUSE);
    return () => clearTimeout(timer);
  }, [view.value]);
  useEffect(() => {
    const linked = parse(params);
    if (path(linked) === written.current) return;
    written.current = path(linked);
    onLink(linked);
  }, [params]);
}
