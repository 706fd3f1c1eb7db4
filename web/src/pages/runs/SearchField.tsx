/** The search field, with the grammar of `gymnast runs`. The error of the server appears below it. */

import { useSignal } from "@preact/signals";
import { useEffect, useId, useRef } from "preact/hooks";
import type { ApiError } from "../../api/client";

const PAUSE = 150;

interface Props {
  filter: string;
  onFilter: (filter: string) => void;
  error: ApiError | undefined;
}

export function SearchField({ filter, onFilter, error }: Props) {
  const text = useSignal(filter);
  const sent = useRef(filter);
  const timer = useRef(0);
  const message = useId();
  useEffect(() => {
    // Another filter than the one that was typed here: from the panel, a link or the back button.
    if (filter !== sent.current.trim()) text.value = filter;
    sent.current = filter;
  }, [filter]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const submit = (wait: number) => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      sent.current = text.peek();
      onFilter(text.peek());
    }, wait);
  };
  return (
    <div class="runs-search">
      <input
        type="search"
        data-search
        value={text.value}
        placeholder="Search: text, env=CartPole-v1, status=failed, score>200   /"
        aria-label="Search runs"
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? message : undefined}
        title="Text, FIELD=VALUE or FIELD>NUMBER, as for gymnast runs. All words must match."
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          text.value = event.currentTarget.value;
          submit(PAUSE);
        }}
        onKeyDown={(event) => {
          if (event.key === "Enter") submit(0);
          else if (event.key === "Escape" && text.peek()) {
            event.preventDefault();
            text.value = "";
            submit(0);
          } else if (event.key === "Escape") event.currentTarget.blur();
        }}
      />
      {error && (
        <div id={message} class="search-error" role="alert">
          <span class="error-text">{error.message}</span> {error.fix}
        </div>
      )}
    </div>
  );
}
