/** Tabs whose code is loaded when they are first shown. */
import { signal } from "@preact/signals";
import type { ComponentChild, ComponentType } from "preact";
import type { RunDetails } from "../../../api/types";
import { Loading } from "../../../ui/states";
import type { RunModel } from "../model";

export interface TabProps {
  model: RunModel;
  details: RunDetails;
}

/** Returns the component of a tab, loaded when it is first shown. */
export function lazyTab(load: () => Promise<{ default: ComponentType<TabProps> }>): (props: TabProps) => ComponentChild {
  return lazyComponent(load);
}

/** Returns a component that loads the default export of a module, and shows it. */
export function lazyComponent<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): (props: Props) => ComponentChild {
  const loaded = signal<ComponentType<Props> | undefined>(undefined);
  const failed = signal<unknown>(undefined);
  let started = false;
  return function LazyComponent(props: Props) {
    const Loaded = loaded.value;
    if (Loaded) return <Loaded {...props} />;
    if (failed.value) throw failed.value;
    if (!started) {
      started = true;
      load().then(
        (module) => (loaded.value = module.default),
        (error: unknown) => (failed.value = error),
      );
    }
    return <Loading what="the view" height={400} />;
  };
}
