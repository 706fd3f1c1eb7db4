/** Two episodes side by side, at the same step: two checkpoints, or two runs, on the same seed. */
import { useEffect, useMemo } from "preact/hooks";
import { Link, setParams } from "../../../app/router";
import { Button } from "../../../ui/Button";
import { ErrorState } from "../../../ui/states";
import { episodePath } from "../address";
import { cellText } from "../format";
import { Stage } from "../player/Stage";
import { Timeline } from "../player/Timeline";
import { StepCard } from "../step/StepCard";
import { EpisodeContext, episodeStore, useEpisode, type EpisodeStore } from "../store";
import type { EpisodeAddress } from "../types";
import { synchronize } from "./sync";
import "./compare.css";

/** Shows the episode of the page next to another one. */
export function SideBySide({ other }: { other: EpisodeAddress }) {
  const first = useEpisode();
  const second = useMemo(() => episodeStore(other, first.step.peek()), [first, other.run, other.kind, other.version, other.number]);
  useEffect(() => {
    void second.load();
    const stop = synchronize(first, second);
    return () => {
      stop();
      second.close();
    };
  }, [first, second]);
  return (
    <div class="episode-pair">
      <Side store={first} />
      <EpisodeContext.Provider value={second}>
        <Side store={second} isOther />
      </EpisodeContext.Provider>
    </div>
  );
}

function Side({ store, isOther }: { store: EpisodeStore; isOther?: boolean }) {
  const { address } = store;
  const known = store.inspection.value;
  const error = store.error.value;
  const name = `${address.run}, ${address.kind} episode ${address.number} of ${address.version.toLocaleString("en-US")}`;
  return (
    <section class="episode-side" aria-label={isOther ? `Other episode: ${name}` : name}>
      <h2>
        {isOther ? <Link to={episodePath(address)}>{name}</Link> : name}
        {isOther && <Button onClick={() => setParams({ with: null })}>Close</Button>}
      </h2>
      <p class="muted">
        {known
          ? `seed ${known.info.seed}, return ${cellText(known.info.raw_return)}, ${known.info.length} steps, ${known.info.outcome}`
          : "loading"}
      </p>
      {error ? (
        <ErrorState error={error} retry={() => void store.load()} height={240} />
      ) : (
        <>
          <Stage />
          <Timeline />
          <StepCard />
        </>
      )}
    </section>
  );
}
