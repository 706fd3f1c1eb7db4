/** The inspector: one episode step by step, with what the policy saw, did and expected. */
import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { Link, route, runPath } from "../../app/router";
import { useTitle } from "../../app/title";
import { Empty, ErrorState } from "../../ui/states";
import { parseEpisode, parseOtherEpisode } from "./address";
import { Agents } from "./Agents";
import { Charts } from "./charts/Charts";
import { Head } from "./Head";
import { CompareDialog } from "./compare/CompareDialog";
import { SideBySide } from "./compare/SideBySide";
import { Notes } from "./Notes";
import { Controls } from "./player/Controls";
import { Panels } from "./panels/Panels";
import { Moments } from "./player/Moments";
import { Stage } from "./player/Stage";
import { Timeline } from "./player/Timeline";
import { StepCard } from "./step/StepCard";
import { EpisodeContext, episodeStore, useEpisode } from "./store";
import { StepTable } from "./table/StepTable";
import type { EpisodeAddress } from "./types";
import { stepOf, useStepInAddress } from "./useStepInAddress";
import "./episode.css";

interface Props {
  run: string;
  /** `KIND-VERSION-NUMBER`. */
  episode: string;
}

export default function EpisodePage({ run, episode }: Props) {
  const address = parseEpisode(run, episode);
  useTitle(`${episode} · ${run}`);
  if (!address) {
    return (
      <Empty title={`${episode} is no episode`} height={240} command={`gymnast inspect ${run}`}>
        Addresses of episodes end with KIND-VERSION-NUMBER, such as eval-20480-0.{" "}
        <Link to={runPath(run, "episodes")}>All episodes of the run</Link>
      </Empty>
    );
  }
  const role = route.value.params.get("role") ?? undefined;
  const seat = Number(route.value.params.get("seat") ?? 0);
  return <Inspector key={`${run} ${episode} ${role} ${seat}`} address={{ ...address, role, seat }} />;
}

function Inspector({ address }: { address: EpisodeAddress }) {
  const store = useMemo(() => episodeStore(address, stepOf(route.peek().params)), []);
  useEffect(() => {
    void store.load();
    return () => store.close();
  }, [store]);
  useStepInAddress(store);
  // The same element at every change of the address: only what depends on it is drawn again.
  const view = useMemo(() => <View />, []);
  return <EpisodeContext.Provider value={store}>{view}</EpisodeContext.Provider>;
}

function View() {
  const store = useEpisode();
  const isChoosing = useSignal(false);
  // Only this part of the address matters here; the step changes it all the time.
  const beside = useComputed(() => route.value.params.get("with") ?? "");
  const error = store.error.value;
  if (error) {
    const { run, kind, version } = store.address;
    return (
      <div class="episode-error">
        <ErrorState error={error} retry={() => void store.load()} height={240} />
        <p class="muted">
          <Link to={runPath(run, "episodes")}>All episodes of the run</Link>, or in a terminal:{" "}
          <code>
            gymnast inspect {run}:{version} --kind {kind} --text
          </code>
        </p>
      </div>
    );
  }
  const other = parseOtherEpisode(beside.value);
  return (
    <article class="episode" aria-label="Episode" aria-busy={!store.inspection.value}>
      <Head onCompare={() => (isChoosing.value = true)} />
      <Agents />
      <Notes />
      {isChoosing.value && <CompareDialog onClose={() => (isChoosing.value = false)} />}
      {other ? <Pair other={other} /> : <Single />}
    </article>
  );
}

function Pair({ other }: { other: EpisodeAddress }) {
  return (
    <>
      <Controls />
      <SideBySide other={other} />
    </>
  );
}

function Single() {
  return (
    <div class="episode-layout">
      <div class="episode-player">
        <div class="episode-view">
          <Stage />
          <Timeline />
          <Controls />
        </div>
        <Moments />
      </div>
      <Charts />
      <StepCard />
      <StepTable />
      <Panels />
    </div>
  );
}
