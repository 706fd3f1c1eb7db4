/** The progress of a task with the time it has taken, its error, and its result. */
import type { ComponentChildren } from "preact";
import { Button } from "../../../ui/Button";
import { formatCount, formatDuration } from "../../../ui/numbers";
import { ErrorState } from "../../../ui/states";
import type { TaskState } from "./useTask";

interface Props {
  state: TaskState<unknown>;
  /** Undefined if something else cancels it. */
  onCancel?: () => void;
  /** The name of what it counts, shown with the amount: steps. */
  counts?: string;
  children?: ComponentChildren;
}

export function TaskBox({ state, onCancel, counts, children }: Props) {
  if (!state.running && !state.error && !children) return null;
  return (
    <section class="run-task" aria-label={state.title} aria-live="polite">
      {state.running && (
        <p class="run-task-progress">
          <span>{state.title}</span>
          <progress max={1} value={state.share ?? undefined} aria-label={`Progress: ${state.title}`} />
          <span class="num">{state.share === null ? "" : `${Math.floor(state.share * 100)} %`}</span>
          {counts && <span class="num">{`${formatCount(state.done)} ${counts}`}</span>}
          <span class="num muted">{formatDuration(state.seconds)}</span>
          {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        </p>
      )}
      {state.error && <ErrorState error={state.error} height={80} />}
      {children}
    </section>
  );
}
