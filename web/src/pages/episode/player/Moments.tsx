/** The key moments as a list, in order of time. */
import { useMemo } from "preact/hooks";
import { useComputed } from "@preact/signals";
import { useEpisode } from "../store";
import type { KeyMoment } from "../types";
import { MomentShape } from "./MomentShape";
import { momentStyle } from "./moments";

export function Moments() {
  const store = useEpisode();
  const moments = store.moments.value;
  const ordered = useMemo(() => [...moments].sort((a, b) => a.step - b.step), [moments]);
  if (store.inspection.value && !ordered.length) return <p class="episode-moments muted small">No step stands out.</p>;
  return (
    <ol class="episode-moments" aria-label="Key moments">
      {ordered.map((moment) => (
        <Moment key={`${moment.step} ${moment.kind}`} moment={moment} />
      ))}
    </ol>
  );
}

function Moment({ moment }: { moment: KeyMoment }) {
  const store = useEpisode();
  const style = momentStyle(moment.kind);
  const current = useComputed(() => (store.shown.value === moment.step ? "true" : undefined));
  return (
    <li>
      <button type="button" class="episode-moment" aria-current={current} title={style.doc} onClick={() => store.seek(moment.step)}>
        <MomentShape kind={moment.kind} />
        <span class="num episode-moment-step">{moment.step}</span>
        <span class="episode-moment-kind">{style.label}</span>
        <span class="muted ellipsis">{moment.text}</span>
      </button>
    </li>
  );
}
