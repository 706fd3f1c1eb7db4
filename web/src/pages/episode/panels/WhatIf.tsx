/** What the policy would have done if it had seen something else. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { asApiError, send, type ApiError } from "../../../api/client";
import type { Results } from "../../../api/types";
import { Button } from "../../../ui/Button";
import { ErrorLine } from "../../../ui/states";
import { cellText, extent, percentText } from "../format";
import { optionsOf } from "../step/card";
import { useEpisode, type EpisodeStore } from "../store";
import type { ObsComponent } from "../types";
import { BlankArea, type Area } from "./BlankArea";
import { notAskable, stepArguments } from "./records";
import { useSettled } from "./useSettled";

const PAUSE = 60;
type Answer = Results["what_if"];

export function WhatIf() {
  const store = useEpisode();
  const step = useSettled(store.step);
  const changes = useSignal<Record<string, number>>({});
  const blank = useSignal<Area | null>(null);
  const reason = notAskable(store, step.value);
  const { answer, error } = useAnswer(store, reason ? null : step.value, changes, blank);
  useEffect(() => {
    changes.value = {};
    blank.value = null;
  }, [step.value]);
  if (reason) return <p class="muted">{reason}</p>;
  const components = store.inspection.value?.observations ?? [];
  const hasImage = store.inspection.value?.has_image ?? false;
  const isChanged = Object.keys(changes.value).length > 0 || blank.value !== null;
  return (
    <div class="episode-what-if">
      <p class="muted">
        {components.length > 0 && "Move a component of the observation: the policy is asked again, the episode stays as it was. "}
        {hasImage && "Drag over the picture: the policy is asked again with this part of its image blanked. "}
        {isChanged && (
          <button
            type="button"
            class="link-button"
            onClick={() => {
              changes.value = {};
              blank.value = null;
            }}
          >
            As it was
          </button>
        )}
      </p>
      {answer.value && <Decisions answer={answer.value} isChanged={isChanged} />}
      {components.map((component) => (
        <ComponentField key={component.column} component={component} step={step.value} changes={changes} />
      ))}
      {hasImage && <BlankArea blank={blank} />}
      <ErrorLine error={error.value} />
    </div>
  );
}

/** Asks again whenever something changes, after a short pause; an older answer never replaces a newer one. */
function useAnswer(
  store: EpisodeStore,
  step: number | null,
  changes: Signal<Record<string, number>>,
  blank: Signal<Area | null>,
): { answer: Signal<Answer | undefined>; error: Signal<ApiError | undefined> } {
  const answer = useSignal<Answer | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const [changed, area] = [changes.value, blank.value];
  useEffect(() => {
    if (step === null) return undefined;
    let isCurrent = true;
    const timer = window.setTimeout(() => {
      send("what_if", { ...stepArguments(store, step), changes: changed, blank: area && [...area] }).then(
        (found) => {
          if (!isCurrent) return;
          answer.value = found as Answer;
          error.value = undefined;
        },
        (problem: unknown) => isCurrent && (error.value = asApiError(problem)),
      );
    }, PAUSE);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [store, step, changed, area]);
  return { answer, error };
}

interface FieldProps {
  component: ObsComponent;
  step: number;
  changes: Signal<Record<string, number>>;
}

function ComponentField({ component, step, changes }: FieldProps) {
  const store = useEpisode();
  const values = store.numbers(component.column);
  const original = values?.[step] ?? NaN;
  if (!values || Number.isNaN(original)) return null;
  const [low, high] = sliderRange(component, values);
  const value = changes.value[component.column] ?? original;
  const set = (next: number) => {
    const { [component.column]: _, ...others } = changes.value;
    changes.value = next === original || Number.isNaN(next) ? others : { ...others, [component.column]: next };
  };
  const name = component.name;
  return (
    <div class={`episode-change ${value === original ? "" : "changed"}`}>
      <span class="ellipsis" title={component.doc || name}>
        {name}
      </span>
      <input
        type="range"
        aria-label={`${name}, slider`}
        min={low}
        max={high}
        step={(high - low) / 200 || 1}
        value={value}
        onInput={(event) => set(event.currentTarget.valueAsNumber)}
      />
      <input
        type="number"
        aria-label={name}
        step="any"
        value={Number(value.toPrecision(5))}
        onChange={(event) => set(event.currentTarget.valueAsNumber)}
      />
      <Button title={`${name} as it was`} disabledReason={value === original ? "It is as it was." : undefined} onClick={() => set(original)}>
        ↺
      </Button>
    </div>
  );
}

/** Returns the range of a slider: that of the component if it is bounded, else that of the episode and some more. */
export function sliderRange(component: Pick<ObsComponent, "low" | "high">, values: Float64Array): [low: number, high: number] {
  const [least, most] = extent(values) ?? [0, 0];
  const margin = Math.max((most - least) / 2, Math.abs(most) * 0.1, 0.1);
  return [component.low ?? least - margin, component.high ?? most + margin];
}

function Decisions({ answer, isChanged }: { answer: Answer; isChanged: boolean }) {
  const { original, changed } = answer;
  const inspection = useEpisode().inspection.value;
  const names = inspection?.actions.map(({ name }) => name) ?? [];
  const options = optionsOf(inspection?.columns.map(({ name }) => name) ?? []);
  return (
    <table class="episode-decisions" aria-label="Decisions before and after the change">
      <thead>
        <tr>
          <th scope="col" />
          <th scope="col">as it was</th>
          <th scope="col">{isChanged ? "changed" : ""}</th>
        </tr>
      </thead>
      <tbody>
        <Compared label="action" before={original.label} after={changed.label} isChanged={isChanged} />
        {original.probabilities?.map((before, i) => (
          <Compared
            key={i}
            label={options[i]?.label ?? String(i)}
            before={percentText(before)}
            after={percentText(changed.probabilities?.[i] ?? NaN)}
            isChanged={isChanged}
          />
        ))}
        {original.mean?.map((before, i) => (
          <Compared
            key={i}
            label={`mean of ${names[i] ?? i}`}
            before={cellText(before)}
            after={cellText(changed.mean?.[i])}
            isChanged={isChanged}
          />
        ))}
        {original.value !== null && (
          <Compared
            label="value"
            before={cellText(original.value_raw ?? original.value)}
            after={cellText(changed.value_raw ?? changed.value)}
            isChanged={isChanged}
          />
        )}
      </tbody>
    </table>
  );
}

function Compared({ label, before, after, isChanged }: { label: string; before: string; after: string; isChanged: boolean }) {
  return (
    <tr class={isChanged && before !== after ? "changed" : ""}>
      <th scope="row">{label}</th>
      <td class="num">{before}</td>
      <td class="num">{isChanged ? after : ""}</td>
    </tr>
  );
}
