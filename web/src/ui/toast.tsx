/** Short messages in a corner, read out by screen readers. */
import { signal } from "@preact/signals";
import { ApiError } from "../api/client";
import { Icon } from "./icons";

interface Toast {
  id: number;
  text: string;
  kind: "info" | "error";
  action: { label: string; run: () => void } | undefined;
}

const SHOWN = 6000;
const toasts = signal<Toast[]>([]);
let count = 0;

/** Shows a message for a few seconds; errors stay until they are closed. */
export function toast(text: string, options: { kind?: Toast["kind"]; action?: Toast["action"] } = {}): void {
  const id = ++count;
  const kind = options.kind ?? "info";
  toasts.value = [...toasts.peek().slice(-3), { id, text, kind, action: options.action }];
  if (kind === "info") setTimeout(() => close(id), SHOWN);
}

/** Shows an error with its place and fix. */
export function toastError(error: unknown): void {
  if (error instanceof ApiError) {
    const where = error.at ? `${error.at}: ` : "";
    toast(`${where}${error.message}${error.fix ? ` Fix: ${error.fix}` : ""}`, { kind: "error" });
  } else toast(String(error), { kind: "error" });
}

function close(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

/** Where messages appear; part of the shell. */
export function Toasts() {
  return (
    <div class="toasts" role="region" aria-label="Messages" aria-live="polite">
      {toasts.value.map(({ id, text, kind, action }) => (
        <div key={id} class={`toast ${kind}`} role={kind === "error" ? "alert" : undefined}>
          <span>{text}</span>
          {action && (
            <button
              type="button"
              class="link-button"
              onClick={() => {
                close(id);
                action.run();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" class="icon-button" aria-label="Close the message" onClick={() => close(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
