/** The buttons of a run, each with its answer as a message, and the same as commands to copy. */
import { useSignal } from "@preact/signals";
import { send } from "../../../api/client";
import type { CommandAnswer, RunSummary } from "../../../api/types";
import { useActions } from "../../../app/palette";
import { navigate } from "../../../app/router";
import { readOnlyReason } from "../../../app/session";
import { Button } from "../../../ui/Button";
import { copied } from "../../../ui/CopyButton";
import { confirmed } from "../../../ui/Dialog";
import { Menu } from "../../../ui/Menu";
import { toast, toastError } from "../../../ui/toast";
import type { RunModel } from "../model";
import { availableActions, type Action, type ActionId } from "./actions";
import { answerText } from "./answers";
import { actionCommands } from "./commands";
import { ResumeDialog } from "./ResumeDialog";
import { SetDialog } from "./SetDialog";

/** Seconds to wait for the answer of a run, which comes at its next rollout boundary. */
const TIMEOUT = 30;
/** An evaluation takes longer than a rollout; the server waits no longer than this. */
const EVALUATION_TIMEOUT = 60;

interface Props {
  model: RunModel;
  run: RunSummary;
}

export function ActionBar({ model, run }: Props) {
  const open = useSignal<"set" | "resume" | undefined>(undefined);
  const busy = useSignal<ActionId | undefined>(undefined);
  const checkpoints = model.details.value?.checkpoints.steps ?? [];
  const actions = availableActions({
    status: run.status,
    reason: run.reason,
    readOnly: readOnlyReason.value !== "",
    checkpoints,
  });

  const start = async ({ id }: Action) => {
    if (id === "again") return navigate(`/new?from=${encodeURIComponent(run.id)}`);
    if (id === "set" || id === "resume") return void (open.value = id);
    if (id === "stop" && !(await confirmStop(run))) return;
    busy.value = id;
    try {
      toast((await ordered(id, run.id)).map(answerText).join(" "));
      model.refresh();
    } catch (error) {
      toastError(error);
    } finally {
      busy.value = undefined;
    }
  };

  useActions(() =>
    actions.map((action) => ({
      id: `action ${action.id}`,
      label: `${action.label}: ${run.name || run.id}`,
      kind: "action",
      detail: action.about,
      disabled: action.disabled,
      run: () => void start(action),
    })),
  );
  return (
    <div class="run-actions" role="toolbar" aria-label="Actions">
      {actions.map((action) => (
        <Button
          key={action.id}
          class="run-action"
          data-action={action.id}
          title={action.about}
          disabledReason={action.disabled || undefined}
          busy={busy.value === action.id}
          onClick={() => void start(action)}
        >
          {action.label}
          {(action.id === "set" || action.id === "resume" || action.id === "again") && "…"}
        </Button>
      ))}
      <Menu
        label="CLI"
        name="Copy as a CLI command"
        align="end"
        items={actionCommands(run, actions).map((text) => ({
          label: <code>{text}</code>,
          run: () => void copied(text).then((worked) => worked && toast(`Copied ${text}`)),
        }))}
      />
      {open.value === "set" && <SetDialog model={model} run={run} onClose={() => (open.value = undefined)} />}
      {open.value === "resume" && (
        <ResumeDialog run={run} model={model} checkpoints={checkpoints} onClose={() => (open.value = undefined)} />
      )}
    </div>
  );
}

type Ordered = Exclude<ActionId, "set" | "resume" | "again">;

async function ordered(id: Ordered, ref: string): Promise<CommandAnswer[]> {
  if (id === "stop") return send("stop", { ref, timeout: TIMEOUT });
  if (id === "evaluate") return [await send("evaluate_live", { ref, timeout: EVALUATION_TIMEOUT })];
  return [await send(id, { ref, timeout: TIMEOUT })];
}

function confirmStop(run: RunSummary): Promise<boolean> {
  if (run.status !== "queued" && run.status !== "starting") return Promise.resolve(true);
  return confirmed({
    title: `Remove ${run.name || run.id} from the queue?`,
    text: "It will not train. Nothing else is lost.",
    action: "Remove",
    danger: true,
  });
}
