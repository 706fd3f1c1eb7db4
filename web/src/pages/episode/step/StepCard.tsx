/** Everything about the current step: what the policy saw, what it did, and what it expected. Only numbers that change
 * are written again. */
import { useComputed, useSignal, type Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Explained } from "../Explained";
import { useEpisode } from "../store";
import type { ColumnInfo, EpisodeInspection } from "../types";
import { cardModel, type CardModel } from "./card";
import { InputImages } from "./InputImages";
import { AmountRow, NumberRow, OptionRow, RangeRow } from "./rows";

/** Longer lists are cut off until the user asks for all. */
const LISTED = 40;

export function StepCard() {
  const store = useEpisode();
  const inspection = store.inspection.value;
  if (!inspection) return <section class="episode-card" role="status" aria-label="Loading the step" />;
  return <Card inspection={inspection} />;
}

function Card({ inspection }: { inspection: EpisodeInspection }) {
  const store = useEpisode();
  const model = useMemo(() => cardModel(inspection, (name) => store.numbers(name)), [inspection]);
  return (
    <section class="episode-card" aria-label="Step">
      <Explained hasValue class="episode-card-scroll">
        <Title />
        <Decision model={model} />
        <Section title="Reward" rows={model.rewards} isSigned />
        <Section title="Value" rows={model.values} />
        <Section title="Policy" rows={model.policy} />
        <Observations model={model} />
        {inspection.has_image && (
          <Group title="Image that the network reads">
            <InputImages />
          </Group>
        )}
        <Section title="Network input" rows={model.inputs} />
        <Section title="Info" rows={model.other} />
      </Explained>
    </section>
  );
}

function Title() {
  const store = useEpisode();
  const isAt = (column: string) => () => Boolean(store.column(column)?.[store.shown.value]);
  const isEnd = useComputed(() => store.shown.value >= store.length.value);
  const exploratory = useComputed(() => !isEnd.value && store.column("greedy") !== undefined && !isAt("greedy")());
  const greedy = useComputed(() => !isEnd.value && isAt("greedy")());
  const terminated = useComputed(isAt("terminated"));
  const truncated = useComputed(isAt("truncated"));
  return (
    <h2 class="episode-card-title">
      <span>
        Step <span class="num">{store.shown}</span>
      </span>
      <Badge shown={greedy} text="greedy" tone="" title="The action is the most likely one." />
      <Badge shown={exploratory} text="exploratory" tone="warning" title="Another action was more likely: this one was sampled." />
      <Badge shown={terminated} text="terminated" tone="" title="The episode terminates with this step." />
      <Badge shown={truncated} text="truncated" tone="warning" title="The episode is truncated after this step." />
      <Badge shown={isEnd} text="after the last action" tone="" title="No action follows." />
    </h2>
  );
}

interface BadgeProps {
  shown: { readonly value: boolean };
  text: string;
  tone: string;
  title: string;
}

function Badge({ shown, text, tone, title }: BadgeProps) {
  return shown.value ? (
    <span class={`badge ${tone}`} title={title}>
      {text}
    </span>
  ) : null;
}

function Decision({ model }: { model: CardModel }) {
  const rows = model.options.length + model.amounts.length + model.actions.length;
  if (!rows) return null;
  return (
    <Group title="Action">
      {model.options.slice(0, LISTED).map((option, i) => (
        <OptionRow key={option.column} option={option} isFirst={i === 0} />
      ))}
      {model.amounts.map((amount, i) => (
        <AmountRow key={amount.column} amount={amount} isFirst={i === 0 && !model.options.length} />
      ))}
      {model.actions.map((column) => (
        <NumberRow key={column.name} column={column} isFirst={false} />
      ))}
    </Group>
  );
}

function Observations({ model }: { model: CardModel }) {
  const all = useSignal(false);
  const { observations } = model;
  if (!observations.length) return null;
  const listed = all.value ? observations : observations.slice(0, LISTED);
  return (
    <Group title="Observation">
      {listed.map((range, i) => (
        <RangeRow key={range.column} range={range} isFirst={i === 0} />
      ))}
      <ShowAll all={all} total={observations.length} isCut={listed.length < observations.length} />
    </Group>
  );
}

function Section({ title, rows, isSigned }: { title: string; rows: ColumnInfo[]; isSigned?: boolean }) {
  const all = useSignal(false);
  if (!rows.length) return null;
  const listed = all.value ? rows : rows.slice(0, LISTED);
  return (
    <Group title={title}>
      {listed.map((column, i) => (
        <NumberRow key={column.name} column={column} isFirst={i === 0} isSigned={isSigned} />
      ))}
      <ShowAll all={all} total={rows.length} isCut={listed.length < rows.length} />
    </Group>
  );
}

function ShowAll({ all, total, isCut }: { all: Signal<boolean>; total: number; isCut: boolean }) {
  if (!isCut) return null;
  return (
    <button type="button" class="link-button" onClick={() => (all.value = true)}>
      Show all {total}
    </button>
  );
}

function Group({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="episode-card-group" role="group" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </div>
  );
}
