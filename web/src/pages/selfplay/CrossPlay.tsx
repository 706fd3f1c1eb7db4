/** The cross-play matrix, and the button that plays its matches. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { asApiError, runTask, type ApiError } from "../../api/client";
import { commandText } from "../../api/command";
import type { CrossPlayReport } from "../../api/types";
import { readOnlyReason } from "../../app/session";
import { MatrixChart } from "../../chart/MatrixChart";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { ErrorLine } from "../../ui/states";
import { cellLabel, cellText, matchTotals, playerLabel } from "./matrix";

const DEFAULT_EPISODES = 50;
const DEFAULT_SNAPSHOTS = 8;

interface Props {
  run: string;
  matrix: CrossPlayReport | null;
  /** Called with the new matrix after its matches were played. */
  onPlayed: (matrix: CrossPlayReport) => void;
}

export function CrossPlay({ run, matrix, onPlayed }: Props) {
  const episodes = useSignal(DEFAULT_EPISODES);
  const snapshots = useSignal(DEFAULT_SNAPSHOTS);
  const progress = useSignal<{ share: number | null } | null>(null);
  const error = useSignal<ApiError | null>(null);
  const abort = useRef<AbortController | null>(null);
  // The task ends with the page: nobody would see its progress or could cancel it.
  useEffect(() => () => abort.current?.abort(), [run]);

  const play = async () => {
    const controller = new AbortController();
    abort.current = controller;
    progress.value = { share: null };
    error.value = null;
    try {
      const body = { ref: run, episodes: episodes.value, max_snapshots: snapshots.value };
      const played = await runTask("cross_play", body, {
        onProgress: (share) => (progress.value = { share }),
        signal: controller.signal,
      });
      onPlayed(played);
    } catch (failure) {
      if (!controller.signal.aborted) error.value = asApiError(failure);
    } finally {
      progress.value = null;
    }
  };
  const command = commandText({
    command: "league",
    words: [run],
    options: { matrix: true, episodes: episodes.value, "max-snapshots": snapshots.value },
  });
  return (
    <section class="selfplay-matrix" aria-label="Cross-play">
      {matrix && <Matrix matrix={matrix} />}
      {!matrix && (
        <div class="chart selfplay-no-matrix">
          <h3>Cross-play matrix</h3>
          <p class="muted">
            Every past policy and scripted player of one role against every one of the other, on held-out seeds. It shows whether
            newer policies beat all older ones, or only the latest.
          </p>
        </div>
      )}
      <div class="selfplay-play">
        <NumberField label="matches per pair" value={episodes.value} min={1} onChange={(value) => (episodes.value = value)} />
        <NumberField label="past policies per role" value={snapshots.value} min={2} onChange={(value) => (snapshots.value = value)} />
        {progress.value ? (
          <>
            <progress aria-label="Matches played" {...(progress.value.share === null ? {} : { value: progress.value.share })} />
            <span class="num small">{progress.value.share === null ? "starting" : `${Math.floor(progress.value.share * 100)}%`}</span>
            <Button onClick={() => abort.current?.abort()}>Cancel</Button>
          </>
        ) : (
          <Button kind={matrix ? "plain" : "primary"} disabledReason={readOnlyReason.value || undefined} onClick={() => void play()}>
            {matrix ? "Play missing matches" : "Play the matches"}
          </Button>
        )}
        <CopyButton text={command} label="Copy as CLI command" />
      </div>
      <ErrorLine error={error.value} />
    </section>
  );
}

function Matrix({ matrix }: { matrix: CrossPlayReport }) {
  const { known, unknown } = matchTotals(matrix);
  const without = unknown > 0 ? `; ${unknown} more with an unknown outcome` : "";
  return (
    <MatrixChart
      title="Cross-play matrix"
      note={`Win rate of ${matrix.row_role} (rows) against ${matrix.column_role} in percent, over ${known} matches${without}.`}
      rowTitle={matrix.row_role}
      columnTitle={matrix.column_role}
      rows={matrix.rows.map(playerLabel)}
      columns={matrix.columns.map(playerLabel)}
      cells={matrix.cells.map((line, row) =>
        line.map((cell, column) => ({ value: cell.rate, text: cellLabel(cell), detail: cellText(matrix, row, column) })),
      )}
    />
  );
}

interface NumberFieldProps {
  label: string;
  value: number;
  min: number;
  onChange: (value: number) => void;
}

function NumberField({ label, value, min, onChange }: NumberFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="number"
        min={min}
        value={value}
        onChange={(event) => {
          const next = Math.round(event.currentTarget.valueAsNumber);
          if (next >= min) onChange(next);
          else event.currentTarget.value = String(value);
        }}
      />
    </label>
  );
}
