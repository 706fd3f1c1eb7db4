/** Which page an address shows. Each page is a file of its own, loaded when it is first shown. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { Loading } from "../ui/states";
import { matched, route } from "./router";

export interface PageProps {
  /** Parts of the path, such as the id of a run. */
  values: Record<string, string>;
}

type Loader = () => Promise<{ default: ComponentType<PageProps> }>;

const PAGES: [pattern: string, load: Loader][] = [
  ["/", () => import("../pages/runs/index")],
  ["/new", () => import("../pages/new/index")],
  ["/run/:id/:tab?/:rest?", () => import("../pages/run/index")],
  ["/compare", () => import("../pages/compare/index")],
  ["/selfplay/:id?", () => import("../pages/selfplay/index")],
];

const loaded = signal(new Map<string, ComponentType<PageProps>>());
const failed = signal<Error | null>(null);

export function CurrentPage() {
  const { path } = route.value;
  for (const [pattern, load] of PAGES) {
    const values = matched(pattern, path);
    if (!values) continue;
    const Page = loaded.value.get(pattern);
    if (Page) return <Page values={values} />;
    if (failed.value) throw failed.value;
    void load().then(
      (module) => (loaded.value = new Map(loaded.peek()).set(pattern, module.default)),
      (error: Error) => (failed.value = error),
    );
    return <Loading what="the page" />;
  }
  return (
    <div class="state">
      <h1>There is no page {path}</h1>
      <p>
        The runs are at <a href="./">the first page</a>.
      </p>
    </div>
  );
}
