/** The right column: verdicts, table and config differences, from the record of `compare`. */
import type { ReadonlySignal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { read } from "../../api/client";
import { useQuery } from "../../api/queries";
import type { Comparison, RunSummary } from "../../api/types";
import { CopyButton } from "../../ui/CopyButton";
import { clockLabel, formatCount, formatNumber } from "../../ui/numbers";
import { Empty, ErrorState, Loading } from "../../ui/states";
import { ConfigDiff } from "./ConfigDiff";
import { configBySide } from "./config";
import { tableCsv } from "./export";
import { progressStamp, useRefresh } from "./live";
import { ResultTable } from "./ResultTable";
import { compareArguments, isAbout, sideResults, type SideResult } from "./results";
import type { Side } from "./sides";
import type { SideStyles } from "./styles";
import { Verdicts } from "./Verdicts";

const REFRESH_PAUSE = 10_000;

interface Props {
  /** Whether the results are read now. */
  isWanted: boolean;
  sides: readonly Side[];
  runs: readonly RunSummary[];
  x: string;
  /** Reference of the side that the others are compared with. */
  baseline: string;
  highlighted: ReadonlySignal<string>;
  styles: SideStyles;
  onHighlight: (ref: string) => void;
}

export function Results(props: Props) {
  const { sides, runs, x, baseline } = props;
  const request = compareArguments(sides, baseline, x);
  const { refs } = request;
  const query = useQuery(props.isWanted && refs.length > 1 ? `compare:${request.x}:${refs.join(",")}` : "", () => read("compare", request));
  useRefresh(progressStamp(runs), query.refresh, REFRESH_PAUSE);
  const latest = query.data.value;
  const comparison = latest && isAbout(latest, sides) ? latest : undefined;
  const rows = useMemo(
    () => (comparison ? sideResults(comparison, sides, baseline) : []),
    [comparison, sides, baseline],
  );
  const reference = rows.find((row) => row.side.ref === baseline);
  return (
    <section class="compare-right" aria-label="Results">
      {refs.length < 2 && (
        <Empty title="Add a second run or group">
          The table of results and the difference of the settings need at least two sides.
        </Empty>
      )}
      {refs.length > 1 && query.error.value && <ErrorState error={query.error.value} retry={query.refresh} />}
      {refs.length > 1 && !comparison && !query.error.value && <Loading what="the comparison" rows={Math.min(refs.length + 2, 12)} />}
      {refs.length > 1 && comparison && reference && (
        <>
          <Verdicts rows={rows} baseline={reference} format={formatNumber} />
          <ResultTable {...props} rows={rows} baseline={reference} />
          <p class="compare-note small muted">
            {rangeNote(comparison)} {provisionalNote(rows)}
          </p>
          <div class="compare-copy">
            <CopyButton text={() => tableCsv(rows)} label="Copy table as CSV" what="the table" />
          </div>
          <h2>Settings that differ</h2>
          <ConfigDiff problem={comparison.config_problem} config={configBySide(comparison, sides)} baseline={baseline} />
        </>
      )}
    </section>
  );
}

function rangeNote(comparison: Comparison): string {
  const signs = "▲ better, ▼ worse than the baseline; hollow: may be noise.";
  if (!comparison.range) return `${signs} No area: the evaluation curves do not overlap on this axis.`;
  const [low, high] = comparison.range;
  return `${signs} Area: mean evaluation return over ${formatCount(low)} to ${formatCount(high)} ${clockLabel(comparison.x)}.`;
}

function provisionalNote(rows: readonly SideResult[]): string {
  const names = rows.filter((row) => row.isProvisional).map((row) => row.side.label);
  return names.length > 0 ? `No run of ${names.join(", ")} has finished, so the latest evaluations count.` : "";
}

