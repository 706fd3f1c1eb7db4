/** The state of the bandit page: the view, and the experiment. */
import { signal, type Signal } from "@preact/signals";
import { Pace, runSlice, SPEEDS } from "../pace";
import { drawingPause } from "../useLoop";
import { Experiment } from "./experiment";
import type { BanditSettings } from "./settings";
import type { BanditView } from "./view";

/** Milliseconds between two drawings of the tables, and of the charts. */
const DRAWING_PAUSE = 100;
const CHART_PAUSE = 300;

export class BanditStore {
  readonly view: Signal<BanditView>;
  readonly isRunning = signal(false);
  /** Changes when the tables have to be drawn again. */
  readonly drawn = signal(0);
  /** Changes when the charts have to be drawn again. */
  readonly charted = signal(0);
  /** The repetition whose estimates are shown. */
  readonly repetition = signal(0);
  experiment: Experiment;
  private readonly pace = new Pace();
  private lastDrawing = 0;
  private lastChart = 0;

  constructor(view: BanditView) {
    this.view = signal(view);
    this.experiment = new Experiment(view.settings);
  }

  /** Computes the steps of an animation frame. */
  frame(seconds: number): void {
    const speed = SPEEDS[this.view.peek().speed] ?? Infinity;
    const step = () => {
      this.experiment.step();
      return !this.experiment.isDone;
    };
    // A step has all repetitions of all algorithms, so the clock is read after each one.
    runSlice(step, this.pace.due(seconds, speed), () => performance.now(), undefined, 1);
    if (this.experiment.isDone) this.isRunning.value = false;
    this.refresh(this.experiment.isDone);
  }

  start(): void {
    if (this.experiment.isDone) this.reset();
    this.isRunning.value = true;
  }

  pause(): void {
    this.isRunning.value = false;
    this.refresh(true);
  }

  stepOnce(): void {
    this.isRunning.value = false;
    this.experiment.step();
    this.refresh(true);
  }

  /** Starts all repetitions again. */
  reset(): void {
    const { settings } = this.view.peek();
    this.experiment = new Experiment(settings);
    this.repetition.value = Math.min(this.repetition.peek(), settings.repetitions - 1);
    this.refresh(true);
  }

  open(view: BanditView): void {
    this.view.value = view;
    this.reset();
  }

  /** Changes the settings; all repetitions start again, because every step depends on them. */
  setSettings(changes: Partial<BanditSettings>): void {
    const view = this.view.peek();
    this.open({ ...view, settings: { ...view.settings, ...changes } });
  }

  setSpeed(speed: number): void {
    this.view.value = { ...this.view.peek(), speed };
  }

  private refresh(now: boolean): void {
    const time = performance.now();
    if (now || time - this.lastDrawing >= Math.max(DRAWING_PAUSE, drawingPause())) {
      this.lastDrawing = time;
      this.drawn.value++;
    }
    if (now || time - this.lastChart >= Math.max(CHART_PAUSE, drawingPause())) {
      this.lastChart = time;
      this.charted.value++;
    }
  }
}
