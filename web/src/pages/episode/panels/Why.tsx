/** What a decision was based on: contributions of components, and the parts of an image that mattered. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { read } from "../../../api/client";
import { useQuery } from "../../../api/queries";
import type { Results } from "../../../api/types";
import { ErrorLine, Loading } from "../../../ui/states";
import { cellText, sentence, signedText } from "../format";
import { useEpisode } from "../store";
import { type Contribution, heat, ranked, stepLabels } from "./contributions";
import { notAskable, stepArguments } from "./records";
import { copyStage } from "./stagePicture";
import { useSettled } from "./useSettled";

type Target = "action" | "value";
const SHOWN = 12;

export function Why() {
  const store = useEpisode();
  const step = useSettled(store.step);
  const target = useSignal<Target>("action");
  const reason = notAskable(store, step.value);
  const args = { ...stepArguments(store, step.value), target: target.value };
  const answer = useQuery(reason ? "" : `attribution:${JSON.stringify(args)}`, () => read("attribution", args));
  const attribution = answer.data.value;
  return (
    <div class="episode-why">
      <label>
        What did{" "}
        <select value={target.value} onChange={(event) => (target.value = event.currentTarget.value as Target)}>
          <option value="action">the action</option>
          <option value="value">the value</option>
        </select>{" "}
        at step {step.value} depend on?
      </label>
      {reason && <p class="muted">{reason}</p>}
      <ErrorLine error={answer.error.value} />
      {!reason && !attribution && !answer.error.value && <Loading what="the contributions" rows={6} />}
      {!reason && attribution && <Answer attribution={attribution} />}
    </div>
  );
}

function Answer({ attribution }: { attribution: Results["attribution"] }) {
  const { components, image, past, output, baseline } = attribution;
  const labels = new Map(useEpisode().inspection.value?.observations.map(({ column, name }) => [column, name]));
  const rows = components ? ranked(components, labels, SHOWN) : [];
  const rest = Object.keys(components ?? {}).length - rows.length;
  return (
    <>
      <p class="muted" title={attribution.method}>
        {sentence(`${attribution.target}: ${cellText(output)}${components ? `, and ${cellText(baseline)} for the baseline` : ""}`)}{" "}
        {sentence(attribution.method)}
      </p>
      <Bars rows={rows} label="Contributions" />
      {rest > 0 && <p class="muted">{rest} more contributed less.</p>}
      {past && <Bars rows={ranked(past, stepLabels(past), SHOWN)} label="Contributions of earlier observations" />}
      {image && <SaliencyMap image={image} />}
    </>
  );
}

function Bars({ rows, label: title }: { rows: Contribution[]; label: string }) {
  if (rows.length === 0) return null;
  return (
    <ul class="episode-contributions" aria-label={title}>
      {rows.map(({ column, label, value, share }) => (
        <li key={column}>
          <span class="ellipsis">{label}</span>
          <span class="episode-signed-bar" aria-hidden="true">
            <i
              class={value < 0 ? "negative" : "positive"}
              style={{ width: `${share * 50}%`, [value < 0 ? "right" : "left"]: "50%" }}
            />
          </span>
          <span class="num">{signedText(value)}</span>
        </li>
      ))}
    </ul>
  );
}

function SaliencyMap({ image }: { image: NonNullable<Results["attribution"]["image"]> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const picture = useRef<HTMLCanvasElement>(null);
  const { width, height, values, image_width, image_height } = image;
  useEffect(() => {
    canvas.current?.getContext("2d")?.putImageData(new ImageData(heat(values), width, height), 0, 0);
    copyStage(picture.current);
  }, [image]);
  return (
    <div class="episode-saliency" style={{ aspectRatio: `${image_width} / ${image_height}` }}>
      <canvas ref={picture} class="episode-saliency-picture" aria-hidden="true" />
      <canvas ref={canvas} width={width} height={height} role="img" aria-label="Parts of the image that mattered, in orange" />
    </div>
  );
}
