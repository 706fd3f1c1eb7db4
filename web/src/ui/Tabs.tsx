/** Tabs: arrow keys move between them. Each may be a link, so that it has an address. */
import type { ComponentChildren } from "preact";
import { href } from "../app/router";

export interface Tab {
  key: string;
  label: ComponentChildren;
  /** Path of the app, if the tab has an address. */
  to?: string;
}

interface Props {
  label: string;
  tabs: Tab[];
  current: string;
  onChange: (key: string) => void;
  /** Id of the element with the content; see TabPanel. */
  panel: string;
}

export function Tabs({ label, tabs, current, onChange, panel }: Props) {
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex((tab) => tab.key === current);
    const moves: Record<string, number> = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.key);
    document.getElementById(tabId(panel, next.key))?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} onKeyDown={onKeyDown}>
      {tabs.map((tab) => (
        <a
          key={tab.key}
          id={tabId(panel, tab.key)}
          role="tab"
          href={tab.to ? href(tab.to) : undefined}
          aria-selected={tab.key === current}
          aria-controls={tab.key === current ? panel : undefined}
          tabIndex={tab.key === current ? 0 : -1}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
            event.preventDefault();
            onChange(tab.key);
          }}
        >
          {tab.label}
        </a>
      ))}
    </div>
  );
}

/** The content of the current tab. */
export function TabPanel({ id, tab, children }: { id: string; tab: string; children: ComponentChildren }) {
  return (
    <div id={id} role="tabpanel" aria-labelledby={tabId(id, tab)} class="tab-panel">
      {children}
    </div>
  );
}

function tabId(panel: string, key: string): string {
  return `${panel}-tab-${key}`;
}
