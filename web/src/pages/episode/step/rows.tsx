/** Rows of the card of a step. Their texts and bars are signals, so that nothing else is drawn again. */
import { useComputed, type ReadonlySignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { cellText, percentText, rangeShare, signedText } from "../format";
import { fittedLabel } from "./label";
import { useEpisode } from "../store";
import type { Cell, ColumnInfo } from "../types";
import { isTaken, type Option, type Range } from "./card";

/** Returns the value of a column at the current step, as a signal. */
function useCell(column: string | undefined): ReadonlySignal<Cell | undefined> {
  const store = useEpisode();
  return useComputed(() => (column === undefined ? undefined : store.column(column)?.[store.shown.value]));
}

interface RowProps {
  column: string;
  label: string;
  unit?: string;
  /** Whether the tab key stops here; arrow keys lead to the other rows. */
  isFirst: boolean;
  /** Whether a bar leaves less room for the label. */
  hasBar?: boolean;
  children: ComponentChildren;
}

function Row({ column, label, unit = "", isFirst, hasBar = false, children }: RowProps) {
  const shown = fittedLabel(label, unit, hasBar);
  return (
    <div class="episode-row" data-column={column} tabIndex={isFirst ? 0 : -1}>
      <span class="episode-row-label" title={unit ? `${label} (${unit})` : label}>
        {shown.label}
        {shown.unit && <span class="unit"> {shown.unit}</span>}
      </span>
      {children}
    </div>
  );
}

/** A number with its name; the option of an action as text. */
export function NumberRow({ column, isFirst, isSigned }: { column: ColumnInfo; isFirst: boolean; isSigned?: boolean | undefined }) {
  const store = useEpisode();
  const text = useComputed(() => {
    const cell = store.labeled(column.name)?.[store.shown.value];
    return isSigned && typeof cell === "number" && !Number.isNaN(cell) ? signedText(cell) : cellText(cell);
  });
  return (
    <Row column={column.name} label={column.label} unit={column.unit} isFirst={isFirst}>
      <span class="num episode-row-value">{text}</span>
    </Row>
  );
}

/** A probability as a bar; the option that was taken is marked, one that is not allowed is struck. */
export function OptionRow({ option, isFirst }: { option: Option; isFirst: boolean }) {
  const share = useCell(option.column);
  const action = useCell(option.taken);
  const allowed = useCell(option.mask);
  const number = useComputed(() => (typeof share.value === "number" ? share.value : NaN));
  const text = useComputed(() => percentText(number.value));
  const bar = useComputed(() => `background-size:${((number.value || 0) * 100).toFixed(1)}% 100%`);
  const name = useComputed(() => {
    const taken = isTaken(option, action.value) ? " taken" : "";
    const masked = option.mask !== undefined && allowed.value === false ? " masked" : "";
    return `episode-row episode-option${taken}${masked}`;
  });
  const mark = useComputed(() => (isTaken(option, action.value) ? "▸" : ""));
  return (
    <div class={name} data-column={option.column} tabIndex={isFirst ? 0 : -1}>
      <span class="episode-row-label" title={option.label}>
        <span class="episode-taken" aria-hidden="true">
          {mark}
        </span>
        {fittedLabel(option.label, "", true).label}
      </span>
      <span class="episode-bar" aria-hidden="true" style={bar} />
      <span class="num episode-row-value">{text}</span>
    </div>
  );
}

/** An observation component, with its place in its range. */
export function RangeRow({ range, isFirst }: { range: Range; isFirst: boolean }) {
  const value = useCell(range.column);
  const text = useComputed(() => cellText(value.value));
  return (
    <Row column={range.column} label={range.label} unit={range.unit} isFirst={isFirst} hasBar>
      <RangeBar range={range} value={value} />
      <span class="num episode-row-value">{text}</span>
    </Row>
  );
}

/** A part of a continuous action: what was done, and the mean of the policy as a tick. */
export function AmountRow({ amount, isFirst }: { amount: Range & { mean: string | undefined }; isFirst: boolean }) {
  const value = useCell(amount.column);
  const mean = useCell(amount.mean);
  const text = useComputed(() => cellText(value.value));
  return (
    <Row column={amount.column} label={amount.label} unit={amount.unit} isFirst={isFirst} hasBar>
      <RangeBar range={amount} value={value} tick={mean} />
      <span class="num episode-row-value">{text}</span>
    </Row>
  );
}

interface BarProps {
  range: Range;
  value: ReadonlySignal<Cell | undefined>;
  tick?: ReadonlySignal<Cell | undefined>;
}

/** A bar from zero, or from the lower end, to the value. */
function RangeBar({ range, value, tick }: BarProps) {
  const { low, high } = range;
  const zero = rangeShare(0, low, high) ?? 0;
  const bar = useComputed(() => {
    const share = typeof value.value === "number" ? rangeShare(value.value, low, high) : null;
    if (share === null) return "background-size:0 100%";
    const [from, to] = share < zero ? [share, zero] : [zero, share];
    const size = Math.max(to - from, 0.02);
    // Positions in percent are relative to the room that the bar leaves.
    const left = size < 1 ? Math.min(1, from / (1 - size)) : 0;
    return `background-size:${(size * 100).toFixed(1)}% 100%;background-position:${(left * 100).toFixed(1)}% 0`;
  });
  const mark = useComputed(() => {
    const share = typeof tick?.value === "number" ? rangeShare(tick.value, low, high) : null;
    return share === null ? "display:none" : `left:${(share * 100).toFixed(2)}%`;
  });
  return (
    <span class={`episode-bar range ${range.isDeclared ? "" : "seen"}`} aria-hidden="true" style={bar}>
      {zero > 0 && zero < 1 && <i class="zero" style={{ left: `${zero * 100}%` }} />}
      {tick && <i class="mean" style={mark} />}
    </span>
  );
}
