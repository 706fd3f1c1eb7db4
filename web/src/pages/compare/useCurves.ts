/** The data of one chart: the curves of all runs, and the means over the seeds of groups. */
import { useEffect, useState } from "preact/hooks";
import type { ApiError } from "../../api/client";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { MetricCurves, RunSummary, SeedCurves } from "../../api/types";
import { progressStamp, useRefresh } from "./live";
import { pointsPerRun } from "./series";
import type { Side } from "./sides";
import type { CompareView } from "./view";

const ZOOM_PAUSE = 120;
const REFRESH_PAUSE = 3_000;
const SEED_POINTS = 400;

export interface ChartCurves {
  curves: MetricCurves | undefined;
  seeds: SeedCurves | undefined;
  error: ApiError | undefined;
  retry: () => void;
}

/** Reads the curves of `metric`; nothing while `isWanted` is false. The old curves stay until the new ones are
 * there, and a changing zoom is asked for only after a pause. */
export function useCurves(
  metric: string,
  sides: readonly Side[],
  runs: readonly RunSummary[],
  view: CompareView,
  width: number,
  isWanted: boolean,
): ChartCurves {
  const { x } = view;
  const zoom = useSettled(view.zoom, ZOOM_PAUSE);
  const refs = sides.flatMap((side) => side.runs);
  const groups = sides.filter((side) => side.runs.length > 1).map((side) => side.ref);
  const points = pointsPerRun(refs.length, width);
  const part = zoom ? `${zoom.low}~${zoom.high}` : "";
  const curves = useQuery(isWanted ? `curves:${metric}:${x}:${points}:${part}:${refs.join(",")}` : "", () =>
    read("curves", { refs, names: [metric], x, points, ...(zoom ?? {}) }),
  );
  const seeds = useQuery(isWanted && groups.length > 0 ? `seed_curves:${metric}:${x}:${groups.join(",")}` : "", () =>
    read("seed_curves", { refs: groups, names: [metric], x, points: SEED_POINTS }),
  );
  const retry = () => {
    curves.refresh();
    seeds.refresh();
  };
  useRefresh(isWanted ? progressStamp(runs) : "", retry, REFRESH_PAUSE);
  return {
    // Data of another axis must not be drawn on this one while the new data is on its way.
    curves: curves.data.value?.x === x ? curves.data.value : undefined,
    seeds: groups.length > 0 && seeds.data.value?.x === x ? seeds.data.value : undefined,
    error: curves.error.value ?? seeds.error.value,
    retry,
  };
}

/** Returns a value once it has not changed for `pause` milliseconds. */
function useSettled<T>(value: T, pause: number): T {
  const [settled, setSettled] = useState(value);
  const text = JSON.stringify(value);
  useEffect(() => {
    if (JSON.stringify(settled) === text) return undefined;
    const timer = setTimeout(() => setSettled(value), pause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
