/** A game of a person: steps at the pace of the environment, and what is shown of it. */
import { signal, type ReadonlySignal } from "@preact/signals";
import { asApiError, send, type ApiError } from "../../api/client";
import type { PlayStart, PlayState, Results } from "../../api/types";
import { afterKey, dueSteps, keyName } from "./held";

const MOST_STEPS = 4;

export interface PlayOptions {
  target: string;
  seed: number | null;
  role: string;
}

export class Game {
  readonly #start = signal<PlayStart | undefined>(undefined);
  readonly #state = signal<PlayState | undefined>(undefined);
  readonly #error = signal<ApiError | undefined>(undefined);
  readonly #starting = signal(false);
  readonly paused = signal(false);
  readonly speed = signal(1);
  readonly held = signal<readonly string[]>([]);
  #tapped: readonly string[] = [];
  #isAsking = false;
  #next = 0;
  #frame = 0;

  get start(): ReadonlySignal<PlayStart | undefined> {
    return this.#start;
  }
  get state(): ReadonlySignal<PlayState | undefined> {
    return this.#state;
  }
  get error(): ReadonlySignal<ApiError | undefined> {
    return this.#error;
  }
  get starting(): ReadonlySignal<boolean> {
    return this.#starting;
  }

  /** Starts a game; one that is running is stopped and stored. */
  async begin({ target, seed, role }: PlayOptions): Promise<void> {
    await this.stop();
    this.#starting.value = true;
    this.#error.value = undefined;
    try {
      const started = (await send("play_start", { target, seed, role })) as Results["play_start"];
      this.#start.value = started;
      this.#state.value = started.state;
      this.paused.value = false;
      this.held.value = this.#tapped = [];
      this.#next = performance.now();
      this.#frame = requestAnimationFrame(this.#tick);
    } catch (problem) {
      this.#error.value = asApiError(problem);
    } finally {
      this.#starting.value = false;
    }
  }

  /** Ends the game: what was played is stored. */
  async stop(): Promise<void> {
    cancelAnimationFrame(this.#frame);
    const [start, state] = [this.#start.peek(), this.#state.peek()];
    if (!start || !state || state.over) return;
    try {
      const { episode } = (await send("play_stop", { session: start.session })) as Results["play_stop"];
      this.#state.value = { ...state, over: true, outcome: "stopped", episode };
    } catch (problem) {
      this.#error.value = asApiError(problem);
      this.#state.value = { ...state, over: true, outcome: "stopped" };
    }
  }

  /** A key was pressed or released; returns whether the game uses it. */
  press(key: string, isDown: boolean): boolean {
    const start = this.#start.peek();
    const name = keyName(key);
    if (!start || this.#state.peek()?.over || !start.keys.some((known) => known.key === name)) return false;
    this.held.value = afterKey(this.held.peek(), name, isDown);
    if (isDown) this.#tapped = afterKey(this.#tapped, name, true);
    return true;
  }

  #tick = (now: number): void => {
    const start = this.#start.peek();
    if (!start || this.#state.peek()?.over) return;
    this.#frame = requestAnimationFrame(this.#tick);
    const isWaiting = start.waits_for_key && !this.#keys().length;
    if (this.paused.peek() || isWaiting || this.#isAsking) {
      this.#next = Math.max(this.#next, now);
      return;
    }
    const most = start.waits_for_key ? 1 : MOST_STEPS;
    const due = dueSteps(now, this.#next, 1000 / (start.fps * this.speed.peek()), most);
    this.#next = due.next;
    if (due.steps) void this.#step(due.steps);
  };

  /** The keys that are held, and those that were pressed and released since the last step. */
  #keys(): string[] {
    return [...new Set([...this.#tapped, ...this.held.peek()])];
  }

  async #step(steps: number): Promise<void> {
    const start = this.#start.peek();
    if (!start || this.#isAsking) return;
    this.#isAsking = true;
    try {
      const body = { session: start.session, keys: this.#keys(), steps };
      this.#tapped = [];
      const state = (await send("play_step", body)) as PlayState;
      if (this.#start.peek() === start && !this.#state.peek()?.over) this.#state.value = state;
    } catch (problem) {
      this.#error.value = asApiError(problem);
      this.paused.value = true;
    } finally {
      this.#isAsking = false;
    }
  }
}
