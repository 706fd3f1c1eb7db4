/** Settings of the view, and what can be downloaded and copied. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import type { MonitorReport } from "../../api/types";
import { Button } from "../../ui/Button";
import { CopyButton } from "../../ui/CopyButton";
import { Dialog } from "../../ui/Dialog";
import { counted } from "../run/parts/text";
import { MAX_SMOOTH, validSmooth, type Arrangement, type MonitorView } from "./view";

interface Props {
  view: MonitorView;
  /** The environment and what is shown of it. */
  env: string;
  /** Undefined until it was read. */
  report: MonitorReport | undefined;
  command: string;
  /** The choice of runs, if there is no room for it next to the charts. */
  panel: ComponentChildren | null;
  onChange: (changes: Partial<MonitorView>) => void;
  /** Saves run_overview.csv. */
  onDownload: () => void;
}

export function Toolbar({ view, env, report, command, panel, onChange, onDownload }: Props) {
  const isChoosing = useSignal(false);
  const close = () => (isChoosing.value = false);
  return (
    <div class="monitor-toolbar" role="group" aria-label="View">
      <h1 class="ellipsis">
        {env} <span class="muted small">{report && summaryText(report)}</span>
      </h1>
      {panel && <Button onClick={() => (isChoosing.value = true)}>Choose runs</Button>}
      <label class="field" title="Number of rows that each point of a curve of training is the moving average of; 1 for none. Evaluations and win rates are never smoothed.">
        <span>smoothing</span>
        <input
          type="number"
          min={1}
          max={MAX_SMOOTH}
          value={view.smooth}
          onChange={(event) => {
            const smooth = validSmooth(event.currentTarget.value);
            if (smooth === null) event.currentTarget.value = String(view.smooth);
            else onChange({ smooth });
          }}
        />
        <span>rows</span>
      </label>
      <label class="field">
        <span>charts of runs by</span>
        <select value={view.arrangement} onChange={(event) => onChange({ arrangement: event.currentTarget.value as Arrangement, closed: [] })}>
          <option value="measure">measure</option>
          <option value="run">run</option>
        </select>
      </label>
      <Button disabledReason={report ? undefined : "There is no overview to download."} onClick={onDownload}>
        Download run_overview.csv
      </Button>
      {!panel && <CopyButton text={command} label="Copy as CLI command" />}
      {isChoosing.value && (
        <Dialog title="Runs" onClose={close} className="sheet" actions={<Button kind="primary" onClick={close}>Show the runs</Button>}>
          {panel}
        </Dialog>
      )}
    </div>
  );
}

function summaryText({ overview, approaches }: MonitorReport): string {
  return `${counted(overview.length, "run")} · ${approaches.length === 1 ? "1 approach" : `${approaches.length} approaches`}`;
}
