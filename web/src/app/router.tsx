/** The address of the page as a signal, and links that do not reload the page. */
import { signal, type ReadonlySignal } from "@preact/signals";
import type { AnchorHTMLAttributes, ComponentChildren } from "preact";
import { pathBelow, type Route } from "./paths";
export { matched, pathWith, runPath } from "./paths";

const basePath = () => new URL(".", document.baseURI).pathname;
const current = signal<Route>(read());

/** The page that is shown. */
export const route: ReadonlySignal<Route> = current;

function read(): Route {
  if (typeof location === "undefined") return { path: "/", params: new URLSearchParams() };
  return { path: pathBelow(basePath(), location.pathname), params: new URLSearchParams(location.search) };
}

/** Returns the address of a path of the app, such as `/run/k3jx`. */
export function href(path: string): string {
  return basePath() + path.replace(/^\//, "");
}

/** Shows another page. `replace`: the back button skips the present one. */
export function navigate(path: string, options: { replace?: boolean } = {}): void {
  const before = current.peek().path;
  history[options.replace ? "replaceState" : "pushState"](null, "", href(path));
  current.value = read();
  if (!options.replace && current.peek().path !== before) window.scrollTo(0, 0);
}

/** Changes parameters of the address; null and empty ones are removed. Views store their state so. */
export function setParams(changes: Record<string, string | null>, options: { push?: boolean } = {}): void {
  const { path, params } = current.peek();
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") next.delete(name);
    else next.set(name, value);
  }
  // Commas, colons and slashes are allowed in queries; encoded, they are hard to read.
  const query = next.toString().replace(/%(2C|3A|2F|40)/g, (code) => decodeURIComponent(code));
  navigate(query ? `${path}?${query}` : path, { replace: !options.push });
}

if (typeof window !== "undefined") window.addEventListener("popstate", () => (current.value = read()));

type AnchorProps = Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "href" | "onClick" | "role">;

export interface LinkProps extends AnchorProps {
  /** Path of the app, such as `/run/k3jx`. */
  to: string;
  onClick?: (event: MouseEvent) => void;
  children?: ComponentChildren;
}

/** A link within the app. */
export function Link({ to, onClick, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={href(to)}
      onClick={(event) => {
        onClick?.(event);
        const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
        if (event.defaultPrevented || !isPlain) return;
        event.preventDefault();
        navigate(to);
      }}
    />
  );
}
