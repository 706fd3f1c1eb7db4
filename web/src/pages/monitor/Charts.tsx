/** The charts in sections that can be folded. */
import { useEffect, useMemo } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { MonitorChart, MonitorReport } from "../../api/types";
import type { Ink } from "../../chart/colors";
import { Lazily } from "../../ui/Lazily";
import { infoOf } from "../compare/keys";
import { panelsOf, type Panel } from "./panels";
import { CELL_HEIGHT, PanelView } from "./PanelView";
import { chartSections } from "./sections";
import { inksOf } from "./series";
import { toggled, viewPath, type MonitorView } from "./view";

interface Props {
  report: MonitorReport;
  approaches: ReadonlyMap<string, Ink>;
  view: MonitorView;
  onChange: (changes: Partial<MonitorView>) => void;
}

export function Charts({ report, approaches, view, onChange }: Props) {
  const { charts, overview } = report;
  const inks = useMemo(() => inksOf(charts, approaches), [charts, approaches]);
  const names = useMemo(() => new Map(overview.map((row) => [row.run, row.name || row.run])), [overview]);
  const nameOf = (run: string) => names.get(run) ?? run;
  const sections = useMemo(() => chartSections(charts, view.arrangement, nameOf), [charts, view.arrangement, names]);
  const catalogue = useQuery("metrics", () => read("metrics", {}));
  const infos = useMemo(() => new Map(catalogue.data.value?.map((info) => [info.name, info])), [catalogue.data.value]);
  useEffect(scrollToLinked, []);
  // Where the section does not say which run a chart is about, its title does.
  const panels = (chart: MonitorChart) =>
    panelsOf(chart, chart.about === "run" && view.arrangement === "measure" ? `${nameOf(chart.run)} · ${chart.title}` : chart.title);
  return (
    <>
      {sections.map(({ key, title, charts: members }) => {
        const isOpen = !view.closed.includes(key);
        const shown = members.flatMap(panels);
        return (
          <section key={key} class="monitor-section" aria-label={title}>
            <h2>
              <button type="button" aria-expanded={isOpen} onClick={() => onChange({ closed: toggled(view.closed, key) })}>
                {title} <span class="muted">{shown.length}</span>
              </button>
            </h2>
            {isOpen && (
              <div class="monitor-grid">
                {shown.map((panel) => (
                  <div key={panel.name} id={chartId(panel)} class="monitor-chart">
                    <Lazily height={CELL_HEIGHT}>
                      {() => (
                        <PanelView
                          panel={panel}
                          inks={inks}
                          help={infoOf(panel.chart.sources[0]?.column ?? "", infos) ?? undefined}
                          link={`${viewPath(view).slice(1)}#${chartId(panel)}`}
                        />
                      )}
                    </Lazily>
                  </div>
                ))}
              </div>
            )}
          </section>
        );
      })}
    </>
  );
}

function chartId(panel: Panel): string {
  return `chart-${panel.name}`;
}

/** Shows the chart that a link names: it is not there yet when the browser looks for it. */
function scrollToLinked(): void {
  const id = decodeURIComponent(location.hash.slice(1));
  if (id.startsWith("chart-")) document.getElementById(id)?.scrollIntoView({ block: "center" });
}
