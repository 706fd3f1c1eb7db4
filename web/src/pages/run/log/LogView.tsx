/** The log of a run, followed while the end is in view. */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { asApiError, read, type ApiError } from "../../../api/client";
import { Button } from "../../../ui/Button";
import { CopyButton } from "../../../ui/CopyButton";
import { ErrorState } from "../../../ui/states";
import { isLive } from "../header/actions";
import type { TabProps } from "../parts/lazyTab";
import { counted } from "../parts/text";
import { appendLog, EMPTY_LOG, markedParts, matchingLines, MAX_LINES } from "./buffer";

/** Distance from the end, in pixels, within which the log is followed. */
const NEAR_END = 24;

export function LogView({ model, details }: TabProps) {
  const buffer = useSignal(EMPTY_LOG);
  const error = useSignal<ApiError | undefined>(undefined);
  const following = useSignal(true);
  const search = useSignal("");
  const at = useSignal(0);
  const box = useRef<HTMLDivElement>(null);
  const generation = model.generation.value;

  useEffect(() => {
    let stop: (() => void) | undefined;
    let closed = false;
    const start = async () => {
      try {
        const page = await read("logs", { ref: details.id, last: MAX_LINES });
        if (closed) return;
        buffer.value = appendLog(EMPTY_LOG, page.lines.map((line) => `${line}\n`).join(""));
        error.value = undefined;
        stop = model.followLog(page.cursor, (text) => (buffer.value = appendLog(buffer.peek(), text)));
      } catch (problem) {
        if (!closed) error.value = asApiError(problem);
      }
    };
    void start();
    return () => {
      closed = true;
      stop?.();
    };
  }, [model, details.id, generation]);

  const { lines, rest, dropped } = buffer.value;
  useLayoutEffect(() => {
    const element = box.current;
    if (element && following.value) element.scrollTop = element.scrollHeight;
  }, [lines, rest, following.value]);

  const found = matchingLines(lines, search.value);
  const current = found.length ? found[((at.value % found.length) + found.length) % found.length] : undefined;
  const move = (step: number) => {
    if (!found.length) return;
    at.value += step;
    following.value = false;
    const index = found[((at.value % found.length) + found.length) % found.length];
    box.current?.querySelector(`[data-line="${index}"]`)?.scrollIntoView({ block: "center" });
  };
  return (
    <section class="run-log" aria-label="Log">
      <div class="run-toolbar">
        <h2>Log</h2>
        <input
          type="search"
          data-search
          aria-label="Search the log"
          placeholder="Search; enter: next"
          onInput={(event) => {
            search.value = event.currentTarget.value;
            at.value = -1;
          }}
          onKeyDown={(event) => event.key === "Enter" && move(event.shiftKey ? -1 : 1)}
        />
        <span class="muted">{search.value ? counted(found.length, "line") : counted(lines.length + dropped, "line")}</span>
        <span class="run-toolbar-end">
          {isLive(details.status) && (
            <Button
              aria-pressed={following.value}
              title={following.value ? "The newest line stays in view; scroll up to pause" : "Jump to the end and follow"}
              onClick={() => (following.value = !following.value)}
            >
              {following.value ? "following" : "paused: follow again"}
            </Button>
          )}
          <CopyButton label="CLI" text={`gymnast logs -f ${details.id}`} />
        </span>
      </div>
      {error.value && <ErrorState error={error.value} height={80} />}
      <div
        ref={box}
        class="run-log-box"
        tabIndex={0}
        role="log"
        aria-label="Lines of the log"
        onScroll={(event) => {
          const element = event.currentTarget;
          following.value = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_END;
        }}
      >
        {dropped > 0 && <div class="muted">{counted(dropped, "earlier line")} not shown</div>}
        {lines.map((line, index) => (
          <LogLine key={dropped + index} line={line} index={index} search={search.value} isCurrent={index === current && at.value >= 0} />
        ))}
        {rest && <div>{rest}</div>}
        {!lines.length && !rest && !error.value && <div class="muted">The log is empty.</div>}
      </div>
    </section>
  );
}

interface LineProps {
  line: string;
  index: number;
  search: string;
  isCurrent: boolean;
}

function LogLine({ line, index, search, isCurrent }: LineProps) {
  return (
    <div data-line={index} class={isCurrent ? "run-log-current" : undefined}>
      {search ? markedParts(line, search).map((part, i) => (i % 2 ? <mark key={i}>{part}</mark> : part)) : line || "\u00a0"}
    </div>
  );
}
