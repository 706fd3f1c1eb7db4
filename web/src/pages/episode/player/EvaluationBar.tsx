/** How good the critic finds the state, on the outcome scale; as chess programs show their evaluation. */
import { useComputed } from "@preact/signals";
import { Tooltip } from "../../../ui/Tooltip";
import { cellText } from "../format";
import { useEpisode } from "../store";
import { evaluation, shareBelow } from "./evaluation";

export function EvaluationBar() {
  const store = useEpisode();
  const model = useComputed(() => evaluation((name) => store.numbers(name)));
  const at = (values: Float64Array | undefined) => values?.[Math.min(store.shown.value, values.length - 1)] ?? NaN;
  const place = useComputed(() => at(model.value?.place));
  const value = useComputed(() => at(model.value?.value));
  const share = useComputed(() => (model.value && Number.isFinite(place.value) ? shareBelow(model.value.scale, place.value) : 0));
  const fill = useComputed(() => `background-size:100% ${(share.value * 100).toFixed(1)}%`);
  const tick = useComputed(() => {
    const actual = at(model.value?.actual);
    return model.value && Number.isFinite(actual) ? `bottom:${(shareBelow(model.value.scale, actual) * 100).toFixed(2)}%` : "display:none";
  });
  const zero = useComputed(() => (model.value ? `bottom:${(shareBelow(model.value.scale, 0) * 100).toFixed(2)}%` : ""));
  const text = useComputed(() => (Number.isFinite(value.value) ? briefly(value.value) : ""));
  const side = useComputed(() => (share.value > 0.5 ? "high" : "low"));
  const now = useComputed(() => share.value);
  const spoken = useComputed(() => (Number.isFinite(value.value) ? `${cellText(value.value)} ${model.value?.unit ?? ""}` : "unknown"));
  if (!model.value) {
    if (store.inspection.value) return null;
    return <div class="episode-evaluation" aria-hidden="true" />;
  }
  const { unit, doc } = model.value;
  const help = () => (
    <>
      <strong>Evaluation</strong>
      <p>
        The value of the state is {cellText(value.value)} {unit}. {doc}
      </p>
    </>
  );
  return (
    <Tooltip content={help} class="episode-evaluation-wrap">
      <div
        class="episode-evaluation"
        style={fill}
        role="meter"
        aria-label="Evaluation: value of the state"
        aria-valuemin={0}
        aria-valuemax={1}
        aria-valuenow={now}
        aria-valuetext={spoken}
      >
        <div class="episode-evaluation-zero" style={zero} />
        <div class="episode-evaluation-tick" style={tick} />
        <span class="episode-evaluation-text num" data-place={side}>
          {text}
        </span>
      </div>
    </Tooltip>
  );
}

/** Returns a number in at most four characters or so. */
function briefly(value: number): string {
  const size = Math.abs(value);
  return size >= 1000 ? `${(value / 1000).toFixed(size >= 10_000 ? 0 : 1)}k` : value.toFixed(size >= 100 ? 0 : size >= 10 ? 0 : 1);
}
