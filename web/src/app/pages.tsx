/** Which page an address shows. Each page is a file of its own, loaded when it is first shown. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { Loading } from "../ui/states";
import { Link, matched, route } from "./router";
import { useTitle } from "./title";

export interface PageProps {
  /** Parts of the path, such as the id of a run. */
  values: Record<string, string>;
}

interface Page {
  pattern: string;
  title: (values: Record<string, string>) => string;
  load: () => Promise<{ default: ComponentType<PageProps> }>;
}

const PAGES: Page[] = [
  { pattern: "/", title: () => "Runs", load: () => import("../pages/runs/index") },
  { pattern: "/new", title: () => "New run", load: () => import("../pages/new/index") },
  { pattern: "/run/:id/:tab?/:rest?", title: ({ id }) => id ?? "Run", load: () => import("../pages/run/index") },
  { pattern: "/compare", title: () => "Compare", load: () => import("../pages/compare/index") },
  { pattern: "/play/:target", title: () => "Play", load: () => import("../pages/play/index") },
  { pattern: "/selfplay/:id?", title: () => "League", load: () => import("../pages/selfplay/index") },
  { pattern: "/sweeps/:name?", title: ({ name }) => name ?? "Sweeps", load: () => import("../pages/sweeps/index") },
  { pattern: "/monitor", title: () => "Monitor", load: () => import("../pages/monitor/index") },
  { pattern: "/playground", title: () => "Playground", load: () => import("../pages/playground/index") },
];

const loaded = signal(new Map<string, ComponentType<PageProps>>());
const loading = new Set<string>();
const failed = signal<Error | null>(null);

function pageAt(path: string): { page: Page; values: Record<string, string> } | null {
  for (const page of PAGES) {
    const values = matched(page.pattern, path);
    if (values) return { page, values };
  }
  return null;
}

/** Loads the page of the address, so that it is there when the session has started. */
export function loadPage(): void {
  const page = pageAt(route.value.path)?.page;
  if (!page || loading.has(page.pattern)) return;
  loading.add(page.pattern);
  page.load().then(
    (module) => (loaded.value = new Map(loaded.peek()).set(page.pattern, module.default)),
    (error: Error) => {
      loading.delete(page.pattern);
      failed.value = error;
    },
  );
}

export function CurrentPage() {
  const { path } = route.value;
  const found = pageAt(path);
  useTitle(found ? found.page.title(found.values) : "No such page");
  if (!found) {
    return (
      <div class="state">
        <h1>There is no page {path}</h1>
        <p>
          The runs are on <Link to="/">the first page</Link>.
        </p>
      </div>
    );
  }
  const Shown = loaded.value.get(found.page.pattern);
  if (Shown) return <Shown values={found.values} />;
  if (failed.value) {
    const error = failed.value;
    failed.value = null; // the next attempt loads it again
    throw error;
  }
  loadPage();
  return <Loading what="the page" />;
}
