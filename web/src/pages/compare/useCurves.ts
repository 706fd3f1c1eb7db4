/** The data of one chart: the curves of all runs, and the means over the seeds of groups. */
import { useMemo } from "preact/hooks";
import { read, type ApiError } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { MetricCurves, RunSummary, SeedCurves } from "../../api/types";
import { covered, type Range } from "../../chart/view";
import { progressStamp, useRefresh } from "./live";
import { covers, isComplete, pointsPerRun, withMargin } from "./series";
import type { Side } from "./sides";
import type { CompareView } from "./view";

const REFRESH_PAUSE = 3_000;
const SEED_POINTS = 400;

export interface ChartCurves {
  curves: MetricCurves | undefined;
  seeds: SeedCurves | undefined;
  /** The range of the x axis without zoom; undefined before there is data. */
  range: Range | undefined;
  error: ApiError | undefined;
  retry: () => void;
}

/** Reads the curves of `metric`; nothing while `isWanted` is false. After a zoom, the part that is shown is read
 * with more points, unless all points are there already; until it has arrived, the curves of the whole range are
 * shown. */
export function useCurves(
  metric: string,
  sides: readonly Side[],
  runs: readonly RunSummary[],
  view: CompareView,
  width: number,
  isWanted: boolean,
): ChartCurves {
  const { x, zoom } = view;
  const refs = useMemo(() => sides.flatMap((side) => side.runs), [sides]);
  const groups = useMemo(() => sides.filter((side) => side.runs.length > 1).map((side) => side.ref), [sides]);
  const points = pointsPerRun(refs.length, width);
  const request = { refs, names: [metric], x, points };
  const name = `${metric}:${x}:${points}:${refs.join(",")}`;
  const whole = useQuery(isWanted ? `curves:${name}` : "", () => read("curves", request));
  const overview = ofClock(whole.data.value, x);

  const isZoomed = isWanted && zoom !== null && overview !== undefined && !isComplete(overview);
  const part = useQuery(isZoomed ? `curves:${zoom.low}~${zoom.high}:${name}` : "", async () => {
    const wide = withMargin(zoom!);
    return { ...wide, curves: await read("curves", { ...request, ...wide }) };
  });
  const detail = isZoomed && part.data.value && covers(part.data.value, zoom) ? part.data.value.curves : undefined;

  const seeds = useQuery(isWanted && groups.length > 0 ? `seed_curves:${metric}:${x}:${groups.join(",")}` : "", () =>
    read("seed_curves", { refs: groups, names: [metric], x, points: SEED_POINTS }),
  );
  const retry = () => {
    whole.refresh();
    part.refresh();
    seeds.refresh();
  };
  useRefresh(isWanted ? progressStamp(runs) : "", retry, REFRESH_PAUSE);
  const means = groups.length > 0 ? ofClock(seeds.data.value, x) : undefined;
  const range = useMemo(() => {
    const all = [...(overview?.series ?? []), ...(means?.groups ?? []).flatMap((group) => group.series)];
    return covered(all.filter((series) => series.key === metric).map((series) => series.x)) ?? undefined;
  }, [overview, means, metric]);
  return {
    curves: ofClock(detail, x) ?? overview,
    seeds: means,
    range,
    error: whole.error.value ?? part.error.value ?? seeds.error.value,
    retry,
  };
}

/** Data of another clock must not be drawn on this axis while the new data is on its way. */
function ofClock<T extends { x: string }>(data: T | undefined, x: string): T | undefined {
  return data?.x === x ? data : undefined;
}
