/** The command palette: go to a run, metric, page or setting, or do something, by typing. */
import { signal, useSignal } from "@preact/signals";
import type { TargetedKeyboardEvent } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { read } from "../api/client";
import { useQuery } from "../api/queries";
import { Dialog } from "../ui/Dialog";
import { ranked } from "./ranking";
import { navigate, runPath } from "./router";
import { useShortcut } from "./shortcuts";

export interface PaletteAction {
  /** Unique among the actions. */
  id: string;
  label: string;
  /** Kind, such as `run` or `setting`, shown at the side. */
  kind: string;
  /** More words to find it by. */
  keywords?: string;
  /** Shown behind the label: a status, a value. */
  detail?: string;
  /** Why it cannot be done now; empty or missing if it can. */
  disabled?: string;
  run: () => void;
}

const LISTED = 50;
const sources = signal<(() => PaletteAction[])[]>([]);
const open = signal(false);

/** Offers the actions of a page while it is shown. */
export function useActions(actions: () => PaletteAction[]): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const source = () => latest.current();
    sources.value = [...sources.peek(), source];
    return () => {
      sources.value = sources.peek().filter((other) => other !== source);
    };
  }, []);
}

export function openPalette(): void {
  open.value = true;
}

/** The palette, part of the shell. */
export function Palette() {
  useShortcut("ctrl+k", "Command palette: go to a run, metric, page or setting, or do something", openPalette);
  if (!open.value) return null;
  return <PaletteDialog onClose={() => (open.value = false)} />;
}

function PaletteDialog({ onClose }: { onClose: () => void }) {
  const search = useSignal("");
  const chosen = useSignal(0);
  const list = useId();
  const runs = useQuery("palette-runs", () => read("runs", { limit: 1000 }));
  const metrics = useQuery("metrics", () => read("metrics", {}));
  const actions: PaletteAction[] = [
    ...sources.value.flatMap((source) => source()),
    ...(runs.data.value?.runs ?? []).map((run) => ({
      id: `run ${run.id}`,
      label: run.name || run.id,
      kind: "run",
      keywords: `${run.id} ${run.preset} ${run.tags.join(" ")}`,
      detail: `${run.preset} · ${run.status}`,
      run: () => navigate(runPath(run.id)),
    })),
    ...(metrics.data.value ?? []).map((metric) => ({
      id: `metric ${metric.name}`,
      label: metric.name,
      kind: "metric",
      keywords: metric.meaning,
      detail: metric.meaning,
      run: () => location.assign(new URL(`guide/metrics#${encodeURIComponent(metric.name)}`, document.baseURI)),
    })),
  ];
  const matching = (text: string) =>
    ranked(text, actions, (action) => action.label, LISTED, (action) => `${action.kind} ${action.keywords ?? ""}`);
  const shown = matching(search.value);
  const index = Math.min(chosen.value, shown.length - 1);
  const choose = (action: PaletteAction | undefined) => {
    if (!action || action.disabled) return;
    onClose();
    action.run();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    const moves: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const move = moves[event.key];
    if (move !== undefined) {
      event.preventDefault();
      chosen.value = Math.max(0, Math.min(shown.length - 1, index + move));
      document.getElementById(`${list}-${chosen.value}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      // What was typed just before may not be drawn yet.
      const found = matching(event.currentTarget.value);
      choose(found[Math.min(chosen.peek(), found.length - 1)]);
    }
  };
  return (
    <Dialog title="Command palette" onClose={onClose} className="palette" hideTitle>
      <input
        class="palette-input"
        type="text"
        role="combobox"
        aria-label="Search runs, metrics, pages, settings and actions"
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={shown.length ? `${list}-${index}` : undefined}
        placeholder="Run, metric, page, setting or action"
        autocomplete="off"
        autofocus
        value={search.value}
        onInput={(event) => {
          search.value = event.currentTarget.value;
          chosen.value = 0;
        }}
        onKeyDown={onKeyDown}
      />
      <ul class="palette-list" id={list} role="listbox" aria-label="Matches">
        {shown.map((action, i) => (
          <li
            key={action.id}
            id={`${list}-${i}`}
            role="option"
            aria-selected={i === index}
            aria-disabled={action.disabled ? true : undefined}
            title={action.disabled || undefined}
            onPointerMove={() => (chosen.value = i)}
            onClick={() => choose(action)}
          >
            <span class="palette-label">{action.label}</span>
            <span class="palette-detail">{action.disabled || action.detail}</span>
            <span class="palette-kind">{action.kind}</span>
          </li>
        ))}
      </ul>
      {!shown.length && <p class="palette-empty">Nothing matches.</p>}
    </Dialog>
  );
}
