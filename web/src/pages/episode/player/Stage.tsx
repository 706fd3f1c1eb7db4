/** The picture of the current step, on one canvas. The nearest picture is shown while the exact one loads. */
import { effect, useComputed, useSignal, type ReadonlySignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../../ui/Button";
import { useEpisode } from "../store";
import type { EpisodeInspection } from "../types";
import { EvaluationBar } from "./EvaluationBar";
import { Frames, frameSource } from "./frames";
import { requestWidth } from "./plan";

/** Pictures that are drawn at more than this many times their size keep their pixels visible. */
const PIXELATED_ABOVE = 2;

export function Stage() {
  const { inspection } = useEpisode();
  const known = inspection.value;
  return (
    <div class={`episode-stage ${known && !known.has_frames ? "without-frames" : ""}`}>
      <EvaluationBar />
      {!known ? (
        <div class="episode-picture" role="status" aria-label="Loading the picture" />
      ) : known.has_frames ? (
        <Picture inspection={known} />
      ) : (
        <p class="episode-no-picture muted">
          No pictures: {known.frames_note || `${known.env} has no renderer`}
        </p>
      )}
    </div>
  );
}

function Picture({ inspection }: { inspection: EpisodeInspection }) {
  const store = useEpisode();
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const frames = useSignal<Frames | undefined>(undefined);
  const variation = store.variation.value;
  // Before the page is painted, so that the first picture is asked for as early as possible.
  useLayoutEffect(() => {
    const width = requestWidth(box.current?.clientWidth ?? 480, window.devicePixelRatio);
    const source = new Frames(frameSource(store.address, variation), store.length.peek(), width);
    frames.value = source;
    const stops = [
      effect(() => source.show(store.shown.value)),
      effect(() => draw(canvas.current, source.shown.value?.picture)),
    ];
    return () => {
      stops.forEach((stop) => stop());
      source.close();
    };
  }, [store, inspection, variation]);
  const label = useComputed(() => `Picture of step ${store.shown.value} of ${store.length.value}`);
  return (
    <div ref={box} class="episode-picture">
      <canvas ref={canvas} role="img" aria-label={label} width={1} height={1} />
      <PictureNote frames={frames} />
    </div>
  );
}

interface NoteProps {
  /** A signal: a variation has frames of its own, and what is computed from a plain property would stay with the old. */
  frames: ReadonlySignal<Frames | undefined>;
}

function PictureNote({ frames }: NoteProps) {
  const store = useEpisode();
  const shown = useComputed(() => frames.value?.shown.value?.step);
  const error = frames.value?.error.value;
  if (error) {
    return (
      <div class="episode-picture-error" role="alert">
        <strong>{error.message}</strong>
        {error.fix && <span>{error.fix}</span>}
        <Button onClick={() => frames.peek()?.retry()}>Try again</Button>
      </div>
    );
  }
  return <LateNote shown={shown} step={store.shown} />;
}

interface LateProps {
  /** Step of the picture. */
  shown: ReadonlySignal<number | undefined>;
  step: ReadonlySignal<number>;
}

/** Says which step the picture shows, if it is not the current one. */
function LateNote({ shown, step }: LateProps) {
  const text = useComputed(() => {
    const [at, wanted] = [shown.value, step.value];
    return at === undefined ? "loading the picture" : at === wanted ? "" : `picture of step ${at}`;
  });
  const style = useComputed(() => (text.value ? "" : "visibility:hidden"));
  return (
    <span class="episode-picture-note" aria-hidden="true" style={style}>
      {text}
    </span>
  );
}

function draw(canvas: HTMLCanvasElement | null, picture: ImageBitmap | undefined): void {
  if (!canvas || !picture) return;
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    canvas.width = picture.width;
    canvas.height = picture.height;
    const scale = Math.min(canvas.clientWidth / picture.width, canvas.clientHeight / picture.height);
    canvas.classList.toggle("pixelated", scale > PIXELATED_ABOVE);
  }
  canvas.getContext("2d", { alpha: false })?.drawImage(picture, 0, 0);
}
