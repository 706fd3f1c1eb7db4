/** Buttons of the player: play, step, key moments, speed. */
import { useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { EpisodeStore } from "../store";
import { SPEEDS, useEpisode } from "../store";
import { useShortcut } from "../../../app/shortcuts";
import { nextMoment } from "./moments";
import { nextSpeed, Playback } from "./playback";

const ICONS = {
  start: "M3 3v10M13 3L6 8l7 5z",
  end: "M13 3v10M3 3l7 5-7 5z",
  back: "M11 3L4 8l7 5z",
  forward: "M5 3l7 5-7 5z",
  previous: "M10 3l-5 5 5 5M13 6.5a1.5 1.5 0 110 3 1.5 1.5 0 010-3z",
  next: "M6 3l5 5-5 5M3 6.5a1.5 1.5 0 110 3 1.5 1.5 0 010-3z",
  play: "M4.5 2.5l9 5.5-9 5.5z",
  pause: "M4 3h3v10H4zM9.5 3h3v10h-3z",
} as const;

export function Controls() {
  const store = useEpisode();
  usePlayback(store);
  useShortcut("space", "Play or pause", () => toggle(store));
  useShortcut("arrowright", "Next step (shift: 10 steps)", () => move(store, 1));
  useShortcut("arrowleft", "Previous step (shift: 10 steps)", () => move(store, -1));
  useShortcut("shift+arrowright", "", () => move(store, 10));
  useShortcut("shift+arrowleft", "", () => move(store, -10));
  useShortcut("home", "First step", () => store.seek(0));
  useShortcut("end", "Last step", () => store.seek(store.length.peek()));
  useShortcut("]", "Next key moment", () => toMoment(store, 1));
  useShortcut("[", "Previous key moment", () => toMoment(store, -1));
  useShortcut("+", "Play faster", () => changeSpeed(store, 1));
  useShortcut("=", "", () => changeSpeed(store, 1));
  useShortcut("-", "Play slower", () => changeSpeed(store, -1));
  const playing = store.playing.value;
  return (
    <div class="episode-controls" role="group" aria-label="Player">
      <IconButton icon="start" label="First step" keys="home" run={() => store.seek(0)} />
      <IconButton icon="previous" label="Previous key moment" keys="[" run={() => toMoment(store, -1)} />
      <IconButton icon="back" label="Previous step" keys="left" run={() => move(store, -1)} />
      <IconButton icon={playing ? "pause" : "play"} label={playing ? "Pause" : "Play"} keys="space" run={() => toggle(store)} isMain />
      <IconButton icon="forward" label="Next step" keys="right" run={() => move(store, 1)} />
      <IconButton icon="next" label="Next key moment" keys="]" run={() => toMoment(store, 1)} />
      <IconButton icon="end" label="Last step" keys="end" run={() => store.seek(store.length.peek())} />
      <StepField />
      <select
        class="episode-speed"
        aria-label="Speed of playback"
        title="Speed of playback (+ and -)"
        value={String(store.speed.value)}
        onChange={(event) => (store.speed.value = Number(event.currentTarget.value))}
      >
        {SPEEDS.map((speed) => (
          <option key={speed} value={String(speed)}>
            {speed}x
          </option>
        ))}
      </select>
    </div>
  );
}

interface IconButtonProps {
  icon: keyof typeof ICONS;
  label: string;
  keys: string;
  run: () => void;
  isMain?: boolean;
}

function IconButton({ icon, label, keys, run, isMain }: IconButtonProps) {
  return (
    <button type="button" class={`icon-button ${isMain ? "episode-play" : ""}`} aria-label={label} title={`${label} (${keys})`} onClick={run}>
      <svg class="icon" width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">
        <path d={ICONS[icon]} fill={isMain || icon === "play" ? "currentColor" : "none"} stroke="currentColor" stroke-width="1.4" stroke-linejoin="round" />
      </svg>
    </button>
  );
}

/** The number of the step; typing one seeks. It is set without drawing anything again. */
function StepField() {
  const store = useEpisode();
  const field = useRef<HTMLInputElement>(null);
  useSignalEffect(() => {
    const step = String(store.shown.value);
    if (field.current && document.activeElement !== field.current) field.current.value = step;
  });
  return (
    <label class="episode-step-field">
      <span class="muted">step</span>
      <input
        ref={field}
        class="num"
        inputMode="numeric"
        aria-label="Step"
        defaultValue={String(store.step.peek())}
        onChange={(event) => {
          const wanted = Number(event.currentTarget.value);
          if (Number.isFinite(wanted)) store.seek(wanted);
          event.currentTarget.value = String(store.step.peek());
        }}
        onKeyDown={(event) => (event.key === "Enter" || event.key === "Escape") && event.currentTarget.blur()}
      />
      <span class="muted num">/ {store.length}</span>
    </label>
  );
}

/** Moves the step while the episode plays. */
function usePlayback(store: EpisodeStore): void {
  useSignalEffect(() => {
    const fps = store.inspection.value?.fps || 30;
    if (!store.playing.value) return undefined;
    const playback = new Playback();
    let request = requestAnimationFrame(function advance(now) {
      const steps = playback.stepsAt(now, fps * store.speed.peek());
      if (steps) store.seek(store.step.peek() + steps);
      if (store.step.peek() >= store.length.peek()) store.playing.value = false;
      else request = requestAnimationFrame(advance);
    });
    return () => cancelAnimationFrame(request);
  });
}

function toggle(store: EpisodeStore): void {
  if (!store.playing.peek() && store.step.peek() >= store.length.peek()) store.seek(0);
  store.playing.value = !store.playing.peek() && store.length.peek() > 0;
}

function move(store: EpisodeStore, steps: number): void {
  store.playing.value = false;
  store.seek(store.step.peek() + steps);
}

function toMoment(store: EpisodeStore, direction: 1 | -1): void {
  const step = nextMoment(store.moments.peek(), store.step.peek(), direction);
  if (step === undefined) return;
  store.playing.value = false;
  store.seek(step);
}

function changeSpeed(store: EpisodeStore, direction: 1 | -1): void {
  store.speed.value = nextSpeed(SPEEDS, store.speed.peek(), direction);
}
