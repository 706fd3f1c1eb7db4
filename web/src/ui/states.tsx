/** Designed states of a view without data: loading, empty, error. Each has the size of the view. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../api/client";
import { Button } from "./Button";
import { CopyButton } from "./CopyButton";

/** A skeleton of the final size. `height`: pixels; `rows`: lines of a table. */
export function Loading({ what = "data", height, rows }: { what?: string; height?: number; rows?: number }) {
  return (
    <div class="loading" role="status" aria-label={`Loading ${what}`} style={height ? { minHeight: `${height}px` } : undefined}>
      {Array.from({ length: rows ?? 0 }, (_, i) => (
        <div key={i} class="skeleton-row" />
      ))}
    </div>
  );
}

interface EmptyProps {
  title: string;
  children?: ComponentChildren;
  /** The command to type next. */
  command?: string;
  height?: number;
}

/** Nothing is there yet, and what to do about it. */
export function Empty({ title, children, command, height }: EmptyProps) {
  return (
    <div class="state" style={height ? { minHeight: `${height}px` } : undefined}>
      <h2>{title}</h2>
      {children && <div>{children}</div>}
      {command && (
        <p class="command">
          <code>{command}</code> <CopyButton text={command} />
        </p>
      )}
    </div>
  );
}

/** An error with its place and fix. */
export function ErrorState({ error, retry, height }: { error: ApiError; retry?: () => void; height?: number }) {
  return (
    <div class="state" role="alert" style={height ? { minHeight: `${height}px` } : undefined}>
      <h2 class="error-text">{error.code === "offline" ? "The server does not answer" : error.message}</h2>
      {error.at && <p class="muted">{error.at}</p>}
      {error.fix && <p>{error.fix}</p>}
      {retry && <Button onClick={retry}>Try again</Button>}
    </div>
  );
}

/** An error in one line, such as below the fields of a dialog. */
export function ErrorLine({ error }: { error: Pick<ApiError, "message" | "at" | "fix"> | null | undefined }) {
  if (!error) return null;
  return (
    <p class="error-text" role="alert">
      {error.at && <code>{error.at}: </code>}
      {error.message} {error.fix && <span class="fix">{error.fix}</span>}
    </p>
  );
}
