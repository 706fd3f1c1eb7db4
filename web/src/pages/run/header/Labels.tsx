/** The tags and the note of a run, which can be edited. */
import { useSignal } from "@preact/signals";
import { send } from "../../../api/client";
import type { RunSummary } from "../../../api/types";
import { readOnlyReason } from "../../../app/session";
import { toastError } from "../../../ui/toast";
import type { RunModel } from "../model";

interface Props {
  model: RunModel;
  run: RunSummary;
}

export function Labels({ model, run }: Props) {
  return (
    <span class="run-labels">
      <Tags model={model} run={run} />
      <Note model={model} run={run} />
    </span>
  );
}

function Tags({ model, run }: Props) {
  const adding = useSignal(false);
  const change = async (tags: string[], remove: boolean) => {
    try {
      const labels = await send("tag", { ref: run.id, tags, remove });
      model.changeLabels({ tags: [...labels.tags] });
    } catch (error) {
      toastError(error);
    }
  };
  const reason = readOnlyReason.value;
  return (
    <>
      {run.tags.map((tag) => (
        <span key={tag} class="badge run-tag">
          {tag}
          {!reason && (
            <button type="button" aria-label={`Remove the tag ${tag}`} onClick={() => void change([tag], true)}>
              ×
            </button>
          )}
        </span>
      ))}
      {adding.value ? (
        <input
          class="run-tag-input"
          aria-label="New tags, separated by spaces"
          placeholder="tag"
          autofocus
          ref={(field) => field?.focus()}
          onKeyDown={(event) => {
            if (event.key === "Escape") adding.value = false;
            if (event.key !== "Enter") return;
            const tags = event.currentTarget.value.split(/[\s,]+/).filter(Boolean);
            adding.value = false;
            if (tags.length) void change(tags, false);
          }}
          onBlur={() => (adding.value = false)}
        />
      ) : (
        !reason && (
          <button type="button" class="link-button small" onClick={() => (adding.value = true)}>
            + tag
          </button>
        )
      )}
    </>
  );
}

function Note({ model, run }: Props) {
  const editing = useSignal(false);
  const save = async (text: string) => {
    editing.value = false;
    if (text.trim() === run.note) return;
    try {
      const labels = await send("note", { ref: run.id, text });
      model.changeLabels({ note: labels.note });
    } catch (error) {
      toastError(error);
    }
  };
  if (editing.value) {
    return (
      <input
        class="run-note-input"
        aria-label="Note"
        defaultValue={run.note}
        ref={(field) => field?.focus()}
        onKeyDown={(event) => {
          if (event.key === "Enter") void save(event.currentTarget.value);
          else if (event.key === "Escape") editing.value = false;
        }}
        onBlur={(event) => editing.value && void save(event.currentTarget.value)}
      />
    );
  }
  if (readOnlyReason.value) return <span class="run-note">{run.note}</span>;
  return (
    <button type="button" class="run-note link-button" title={run.note || "Add a note"} onClick={() => (editing.value = true)}>
      {run.note || <span class="small">+ note</span>}
    </button>
  );
}
