/** The state of the grid world page: the view, the learning session, and what is shown about it. */
import { signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { Pace, runSlice, SPEEDS } from "../pace";
import { drawingPause } from "../useLoop";
import { greedyPath, type Forecast, type Path } from "./planning";
import { Session } from "./session";
import { settingsLabel, type Settings } from "./settings";
import { shownOptions, type GridView, type Shown } from "./view";
import { isSameWorld, type World } from "./world";

export interface Curve {
  label: string;
  x: readonly number[];
  y: readonly number[];
}

/** Numbers that are computed a few times per second. */
export interface Facts {
  steps: number;
  episodes: number;
  lastReturn: number | null;
  isDone: boolean;
  /** Episodes of the greedy policy. */
  forecast: Forecast;
  /** The way of the greedy policy. */
  path: Path;
  returns: Curve;
  greedy: Curve;
}

const FACTS_PAUSE = 250;
/** Labels of cells change less often than they are drawn: nobody can listen to that. */
const LABELS_PAUSE = 1000;
/** Above this speed, half of the frames are drawn: everything changes in each of them anyway. */
const FAST = 60;
const FAST_PAUSE = 30;
const MOST_KEPT = 4;

export class GridStore {
  readonly view: Signal<GridView>;
  readonly isRunning = signal(false);
  /** Changes when the board has to be drawn again. */
  readonly drawn = signal(0);
  /** Changes when the labels of the cells have to be written again. */
  readonly labeled = signal(0);
  readonly facts: ReadonlySignal<Facts>;
  /** Curves of earlier sessions in this world. */
  readonly kept = signal<readonly Curve[]>([]);
  session: Session;
  private readonly latestFacts: Signal<Facts>;
  private readonly pace = new Pace();
  private lastDrawing = 0;
  private lastFacts = 0;
  private lastLabels = 0;

  constructor(view: GridView) {
    this.view = signal(view);
    this.session = new Session(view.world, view.settings);
    this.facts = this.latestFacts = signal(this.currentFacts());
  }

  /** What the board shows: the chosen view, if the algorithm has it. */
  get shown(): Shown {
    const { shown, settings } = this.view.value;
    return shownOptions(settings.algorithm).includes(shown) ? shown : "values";
  }

  /** Computes the steps of an animation frame. */
  frame(seconds: number): void {
    const speed = SPEEDS[this.view.peek().speed] ?? Infinity;
    const step = () => {
      this.session.step();
      return !this.session.isDone;
    };
    if (!this.session.isDone) runSlice(step, this.pace.due(seconds, speed), () => performance.now());
    if (this.session.isDone) this.isRunning.value = false;
    this.refresh(this.session.isDone);
  }

  start(): void {
    this.isRunning.value = true;
  }

  pause(): void {
    this.isRunning.value = false;
    this.refresh(true);
  }

  /** Does one step, or one sweep. */
  stepOnce(): void {
    this.isRunning.value = false;
    if (!this.session.isDone) this.session.step();
    this.refresh(true);
  }

  /** Finishes the present episode. */
  episodeOnce(): void {
    this.isRunning.value = false;
    while (!this.session.isDone && !this.session.step());
    this.refresh(true);
  }

  /** Forgets everything that was learned. */
  reset(): void {
    this.renew(this.view.peek());
  }

  /** Shows another view; learning starts from zero. */
  open(view: GridView): void {
    if (!isSameWorld(view.world, this.session.world)) this.kept.value = [];
    this.view.value = view;
    this.renew(view);
  }

  /** Changes the world; what was learned stays if the size does. */
  setWorld(world: World): void {
    if (isSameWorld(world, this.session.world)) return;
    const isResized = world.rows !== this.session.world.rows || world.columns !== this.session.world.columns;
    this.kept.value = [];
    this.view.value = { ...this.view.peek(), world };
    if (isResized) this.renew(this.view.peek());
    else this.session.setWorld(world);
    this.refresh(true);
  }

  /** Changes settings; what was learned stays if the algorithm and the seed do. */
  setSettings(settings: Settings): void {
    const before = this.view.peek().settings;
    const isOther = settings.algorithm !== before.algorithm || settings.seed !== before.seed;
    if (isOther) this.keep();
    this.view.value = { ...this.view.peek(), settings };
    if (isOther) this.renew(this.view.peek(), false);
    else this.session.setSettings(settings);
    this.refresh(true);
  }

  setShown(changes: Pick<Partial<GridView>, "speed" | "shown">): void {
    this.view.value = { ...this.view.peek(), ...changes };
    this.refresh(true);
  }

  clearKept(): void {
    this.kept.value = [];
  }

  private renew(view: GridView, keeps = true): void {
    if (keeps && isSameWorld(view.world, this.session.world)) this.keep();
    this.session = new Session(view.world, view.settings);
    this.refresh(true);
  }

  /** Keeps the curve of the session, to compare with the next one. Those of planning have another x axis. */
  private keep(): void {
    const { label, x, y } = this.currentFacts().returns;
    if (!this.session.episodes || x.length < 2) return;
    this.kept.value = [...this.kept.peek().filter((curve) => curve.label !== label), { label, x, y }].slice(-MOST_KEPT);
  }

  private refresh(now: boolean): void {
    const time = performance.now();
    const isFast = (SPEEDS[this.view.peek().speed] ?? Infinity) > FAST;
    if (now || time - this.lastDrawing >= Math.max(drawingPause(), isFast ? FAST_PAUSE : 0)) {
      this.lastDrawing = time;
      this.drawn.value++;
    }
    if (now || time - this.lastFacts >= Math.max(FACTS_PAUSE, drawingPause())) {
      this.lastFacts = time;
      this.latestFacts.value = this.currentFacts();
    }
    if (now || time - this.lastLabels >= LABELS_PAUSE) {
      this.lastLabels = time;
      this.labeled.value++;
    }
  }

  private currentFacts(): Facts {
    const { session } = this;
    const { steps, episodes, lastReturn, isDone, returns, greedy } = session;
    const forecast = session.evaluate();
    const count = session.agent === null ? steps : episodes;
    const label = settingsLabel(session.currentSettings);
    return {
      steps,
      episodes,
      lastReturn,
      isDone,
      forecast,
      path: greedyPath(session.world, session.model, session.table),
      returns: { label, x: [...returns.x], y: [...returns.y] },
      greedy: { label: "greedy policy", x: [...greedy.x, count], y: [...greedy.y, forecast.meanReturn] },
    };
  }
}
