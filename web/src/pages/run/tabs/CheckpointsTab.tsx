/** The checkpoints of a run: scores, damage, and what can be done with each. */
import { useSignal } from "@preact/signals";
import { read } from "../../../api/client";
import { commandText } from "../../../api/command";
import { useQuery } from "../../../api/queries";
import { navigate, runPath } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { Menu, type MenuItem } from "../../../ui/Menu";
import { Num } from "../../../ui/Num";
import { formatCount, formatNumber } from "../../../ui/numbers";
import { Empty } from "../../../ui/states";
import { Table, type Column } from "../../../ui/Table";
import { isLive, resumableSteps } from "../header/actions";
import { ResumeDialog } from "../header/ResumeDialog";
import type { TabProps } from "../parts/lazyTab";
import { TaskBox } from "../parts/TaskBox";
import { timeText } from "../parts/text";
import { useTask } from "../parts/useTask";
import { checkpointRows, otherDamage, type CheckpointRow } from "./checkpoints";
import { EvaluationResult } from "./EvaluationResult";

export default function CheckpointsTab({ model, details }: TabProps) {
  const verify = useSignal(false);
  const resumeAt = useSignal<string | undefined>(undefined);
  const evaluation = useTask("eval");
  const film = useTask("video");
  const verified = useQuery(verify.value ? `verify:${details.id}:${details.latest_step}` : "", () =>
    read("show", { ref: details.id, verify: true }),
  );
  const shown = verified.data.value ?? details;
  const rows = checkpointRows(shown);
  const run = model.summary.value;
  const reason = readOnlyReason.value;
  const resumable = resumableSteps(details.status, details.checkpoints.steps);
  const makeFilm = async (row: CheckpointRow) => {
    const ref = `${details.id}:${row.step}`;
    if (await film.start({ ref }, `film ${ref}`)) navigate(runPath(details.id, "films"));
  };

  const actionsFor = (row: CheckpointRow): MenuItem[] => [
    {
      label: "Evaluate",
      disabledReason: reason || (evaluation.state.value.running ? "Another evaluation is running." : undefined),
      run: () => void evaluation.start({ ref: `${details.id}:${row.step}` }, `evaluate ${details.id}:${row.step}`),
    },
    {
      label: "Resume from here…",
      disabledReason: reason || (resumable.includes(row.step) ? undefined : "The run is training from here; stop it first."),
      run: () => (resumeAt.value = row.isLatest && !isLive(details.status) ? "latest" : String(row.step)),
    },
    {
      label: "Film",
      disabledReason: reason || (film.state.value.running ? "Another film is being made." : undefined),
      run: () => void makeFilm(row),
    },
  ];
  const columns: Column<CheckpointRow>[] = [
    { key: "step", label: "Env steps", align: "right", width: "112px", cell: (row) => <Num value={row.step} metric={{ unit: "", digits: 0 }} /> },
    {
      key: "kind",
      label: "Kind",
      width: "112px",
      cell: (row) => (
        <>
          {row.isBest && <span class="badge good">best</span>} {row.isLatest && <span class="badge">latest</span>}
        </>
      ),
    },
    {
      key: "score",
      label: "Evaluation",
      title: "mean return of this policy during training, with the lower bound of its 95 % interval",
      align: "right",
      width: "144px",
      cell: (row) =>
        row.evaluation ? (
          <span class="num" title={`${row.evaluation.mean}, lower bound ${row.evaluation.low}`}>
            {formatNumber(row.evaluation.mean)} <span class="muted">(≥ {formatNumber(row.evaluation.low)})</span>
          </span>
        ) : (
          <span class="muted">-</span>
        ),
    },
    { key: "time", label: "Written", width: "160px", class: "run-wide", cell: (row) => <span class="muted">{timeText(row.time)} {row.reason}</span> },
    {
      key: "actions",
      label: <span class="visually-hidden">Actions</span>,
      cell: (row) =>
        row.damage ? (
          <span class="error-text" title={row.damage}>
            damaged: {row.damage.slice(row.damage.indexOf(": ") + 2)}
          </span>
        ) : (
          <RowActions actions={actionsFor(row)} command={commandText({ command: "eval", words: [`${details.id}:${row.step}`] })} />
        ),
    },
  ];
  if (!rows.length) {
    return isLive(details.status) ? (
      <Empty title="No checkpoint yet" height={320} command={commandText({ command: "checkpoint", words: [details.id] })}>
        The run saves one at regular intervals (checkpoint.every), or when it is asked to.
      </Empty>
    ) : (
      <Empty title="There are no checkpoints" height={320} command={commandText({ command: "resume", words: [details.id] })}>
        The run ended before its first checkpoint; resuming starts it again from the beginning.
      </Empty>
    );
  }
  return (
    <div class="run-view">
      <div class="run-toolbar">
        <span class="muted">{formatCount(rows.length)} on disk</span>
        <Button busy={verify.value && verified.loading.value} onClick={() => (verify.value ? verified.refresh() : (verify.value = true))}>
          Verify the files
        </Button>
        {verified.data.value && !verified.loading.value && (
          <span class={shown.checkpoints.damaged.length ? "error-text" : "good"}>
            {shown.checkpoints.damaged.length ? "Damaged files were found." : "All files of the best and the latest match their hashes."}
          </span>
        )}
      </div>
      {otherDamage(shown).map((message) => (
        <p class="error-text" key={message}>
          {message}
        </p>
      ))}
      <Table label="Checkpoints" columns={columns} rows={rows} rowKey={(row) => String(row.step)} rowHeight={34} hasShortcuts />
      <TaskBox state={evaluation.state.value} onCancel={evaluation.cancel}>
        {evaluation.state.value.result && <EvaluationResult report={evaluation.state.value.result} />}
      </TaskBox>
      <TaskBox state={film.state.value} onCancel={film.cancel} />
      {resumeAt.value !== undefined && run && (
        <ResumeDialog
          model={model}
          run={run}
          checkpoints={details.checkpoints.steps}
          at={resumeAt.value}
          onClose={() => (resumeAt.value = undefined)}
        />
      )}
    </div>
  );
}

/** The actions of a checkpoint: buttons, or a menu where there is no room for them. */
function RowActions({ actions, command }: { actions: MenuItem[]; command: string }) {
  return (
    <>
      <span class="run-row-actions run-wide">
        {actions.map((action, index) => (
          <Button key={index} disabledReason={action.disabledReason} onClick={action.run}>
            {action.label}
          </Button>
        ))}
        <CopyButton text={command} />
      </span>
      <span class="run-narrow">
        <Menu label="⋯" name="Actions" align="end" items={actions} />
      </span>
    </>
  );
}
