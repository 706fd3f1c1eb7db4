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

/** Returns a component that loads the default export of a module, and shows it. */
export function lazyTab(load: () => Promise<{ default: ComponentType<TabProps> }>): (props: TabProps) => ComponentChild {
  const loaded = signal<ComponentType<TabProps> | undefined>(undefined);
  const failed = signal<unknown>(undefined);
  let started = false;
  return function LazyTab(props: TabProps) {
    const Tab = loaded.value;
    if (Tab) return <Tab {...props} />;
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
