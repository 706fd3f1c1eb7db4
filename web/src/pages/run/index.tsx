/** The page of one run: header with status and buttons, and a tab for each view. */
import { lazyComponent, lazyTab } from "./parts/lazyTab";
import type { PageProps } from "../../app/pages";
import { useActions } from "../../app/palette";
import { navigate, pathWith, runPath } from "../../app/router";
import { useShortcut } from "../../app/shortcuts";
import { Loading } from "../../ui/states";
import { TabPanel, Tabs } from "../../ui/Tabs";
import { Header } from "./header/Header";
import { JobView } from "./header/JobView";
import { Missing, Unreadable } from "./header/Problems";
import { RunModel, useRun } from "./model";
import type { TabProps } from "./parts/lazyTab";
import { ChartsTab } from "./charts/ChartsTab";
import "./run.css";

const TABS: { key: string; label: string; view?: (props: TabProps) => preact.ComponentChild }[] = [
  { key: "charts", label: "Charts" },
  { key: "episodes", label: "Episodes", view: lazyTab(() => import("./tabs/EpisodesTab")) },
  { key: "diagnosis", label: "Diagnosis", view: lazyTab(() => import("./tabs/DiagnosisTab")) },
  { key: "config", label: "Config", view: lazyTab(() => import("./config/ConfigTab")) },
  { key: "events", label: "Events & log", view: lazyTab(() => import("./log/EventsTab")) },
  { key: "checkpoints", label: "Checkpoints", view: lazyTab(() => import("./tabs/CheckpointsTab")) },
  { key: "films", label: "Films", view: lazyTab(() => import("./tabs/FilmsTab")) },
];
const EpisodePage = lazyComponent(() => import("../episode/index"));
const PANEL = "run-tab";

export default function RunPage({ values }: PageProps) {
  const id = values["id"] ?? "@last";
  return <RunView key={id} id={id} tab={values["tab"] ?? "charts"} rest={values["rest"]} />;
}

function RunView({ id, tab, rest }: { id: string; tab: string; rest: string | undefined }) {
  const model = useRun(id);
  const current = TABS.find(({ key }) => key === tab) ?? TABS[0]!;
  const isInspector = current.key === "episodes" && rest !== undefined;
  const show = (key: string) => navigate(runPath(id, key));
  TABS.forEach(({ key, label }, i) => useShortcut(String(i + 1), `Show ${label}`, () => show(key)));
  useActions(() => [
    ...TABS.map(({ key, label }) => ({ id: `tab ${key}`, label, kind: "tab", run: () => show(key) })),
    ...Object.entries(model.details.value?.provenance ?? {}).map(([key, origin]) => ({
      id: `setting ${key}`,
      label: key,
      kind: "setting",
      detail: origin,
      run: () => navigate(pathWith(runPath(id, "config"), { setting: key })),
    })),
  ]);
  return (
    <div class={isInspector ? "run-page inspecting" : "run-page"}>
      <RunHead model={model} />
      {!model.job.value && !model.error.value && (
        <>
          <Tabs
            label="Views of the run"
            tabs={TABS.map(({ key, label }) => ({ key, label, to: runPath(id, key) }))}
            current={current.key}
            onChange={show}
            panel={PANEL}
          />
          <TabPanel id={PANEL} tab={current.key}>
            {isInspector ? (
              <EpisodePage run={id} episode={rest} />
            ) : (
              <TabContent model={model} view={current.view} key={current.key} />
            )}
          </TabPanel>
        </>
      )}
    </div>
  );
}

function RunHead({ model }: { model: RunModel }) {
  const error = model.error.value;
  if (error && model.summary.value) return <Unreadable run={model.summary.value} />;
  if (error) return <Missing id={model.id} error={error} retry={() => void model.start()} />;
  if (model.job.value) return <JobView model={model} job={model.job.value} />;
  return <Header model={model} />;
}

interface ContentProps {
  model: RunModel;
  /** The view of the tab; undefined for the charts, which are read at the same time as the details. */
  view: ((props: TabProps) => preact.ComponentChild) | undefined;
}

function TabContent({ model, view: View }: ContentProps) {
  const details = model.details.value;
  if (!View) return <ChartsTab model={model} details={details} />;
  if (!details) return <Loading what="the run" height={600} />;
  return <View model={model} details={details} />;
}
