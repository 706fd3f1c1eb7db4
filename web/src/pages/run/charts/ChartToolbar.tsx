/** The controls of all charts: x axis, smoothing, log scale, marks, zoom, and the collapsed sections. */
import { CLOCKS } from "../../../api/types";
import { ClockPicker, LogSwitch, SmoothingSlider } from "../../../chart/controls";
import type { ChartMark } from "../../../chart/types";
import { useShortcut } from "../../../app/shortcuts";
import { Menu } from "../../../ui/Menu";
import { formatShort } from "../../../ui/numbers";
import { MARK_KINDS, type MarkKind } from "./marks";
import type { ChartSection } from "./sections";
import { toggled, type ChartView } from "./view";

interface Props {
  view: ChartView;
  change: (changes: Partial<ChartView>) => void;
  sections: readonly ChartSection[];
  marks: readonly ChartMark[];
  alerts: number;
}

const MARK_LABELS: Readonly<Record<MarkKind, string>> = {
  alert: "alerts",
  checkpoint: "checkpoints",
  evaluation: "evaluations",
  change: "live changes",
  stage: "stage changes",
  rollback: "rollbacks",
  resume: "resumes",
};

export function ChartToolbar({ view, change, sections, marks, alerts }: Props) {
  const nextClock = () => change({ x: CLOCKS[(CLOCKS.indexOf(view.x) + 1) % CLOCKS.length]!, range: undefined });
  useShortcut("x", "Next clock on the x axis", nextClock);
  useShortcut("l", "Logarithmic y axes", () => change({ log: !view.log }));
  useShortcut("z", "Show the whole run", () => change({ range: undefined }));
  const counts = new Map(MARK_KINDS.map((kind) => [kind, marks.filter((mark) => mark.kind === kind).length]));
  counts.set("alert", alerts);
  const closed = sections.filter((section) => view.closed.has(section.name));
  return (
    <div class="run-toolbar" role="toolbar" aria-label="Charts">
      <ClockPicker value={view.x} onChange={(x) => change({ x, range: undefined })} />
      <SmoothingSlider value={view.smoothing} onChange={(smoothing) => change({ smoothing })} />
      <LogSwitch checked={view.log} onChange={(log) => change({ log })} />
      <Menu
        label="marks ▾"
        name="Marks in the charts"
        items={MARK_KINDS.map((kind) => ({
          label: `${view.marks.has(kind) ? "✓" : "\u2003"} ${MARK_LABELS[kind]} (${counts.get(kind) ?? 0})`,
          run: () => change({ marks: toggled(view.marks, kind) }),
        }))}
      />
      <button
        type="button"
        class="button run-reset"
        data-on={view.range ? "" : undefined}
        aria-disabled={view.range ? undefined : true}
        title={view.range ? "Show the whole run (z)" : "Drag in a chart to zoom in"}
        onClick={() => view.range && change({ range: undefined })}
      >
        {view.range ? `${formatShort(view.range[0])} to ${formatShort(view.range[1])} ×` : "whole run"}
      </button>
      {closed.map((section) => (
        <button
          type="button"
          key={section.name}
          class="button run-chip"
          aria-expanded="false"
          title={`Show ${section.name}`}
          onClick={() => change({ closed: toggled(view.closed, section.name) })}
        >
          ▸ {section.name} ({section.charts.length})
        </button>
      ))}
    </div>
  );
}
