/** The state of the inspector, one store per open episode: what is known about it, and the current step. */
import { computed, effect, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { ApiError } from "../../api/client";
import { readInspection } from "./read";
import { joinedColumn, numbersOf, optionNames, withOptionNames } from "./columns";
import type { Cell, EpisodeAddress, EpisodeInspection, KeyMoment, Variation } from "./types";

export interface EpisodeStore {
  readonly address: EpisodeAddress;
  /** Undefined until it is loaded. */
  readonly inspection: ReadonlySignal<EpisodeInspection | undefined>;
  /** Why it could not be loaded. */
  readonly error: ReadonlySignal<ApiError | undefined>;
  /** The current step, 0 to `length`; `length` is after the last action. */
  readonly step: Signal<number>;
  /** The current step as views draw it: it changes at most once per animation frame, however fast the user moves. */
  readonly shown: ReadonlySignal<number>;
  /** Number of actions in what is shown: the episode or, up to its end, the variation. */
  readonly length: ReadonlySignal<number>;
  readonly playing: Signal<boolean>;
  /** Times the frames per second of the environment. */
  readonly speed: Signal<number>;
  /** Those of the step table, and the blunders. */
  readonly moments: ReadonlySignal<readonly KeyMoment[]>;
  /** Steps at which another action would have been better, once they were looked for. */
  readonly blunders: Signal<readonly KeyMoment[]>;
  /** What the page shows instead of the episode from `variation.step` on; null for the episode as it was. */
  readonly variation: Signal<Variation | null>;
  /** Returns the values of a column of what is shown, one per step; undefined if there is no such column.
   * Called in a component or a computed signal, it is called again when they change. */
  column(name: string): readonly Cell[] | undefined;
  /** Returns the same for display: options of actions with several elements by their names. */
  labeled(name: string): readonly Cell[] | undefined;
  /** Returns the values of a column as numbers; NaN where there is none. Undefined if the column has texts. */
  numbers(name: string): Float64Array | undefined;
  /** Shows a step; it is limited to 0 and `length`. */
  seek(step: number): void;
  /** Loads the episode, again if it was loaded. */
  load(): Promise<void>;
  /** Ends requests that are under way. */
  close(): void;
}

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16] as const;

/** Returns a store for an episode; `load` fills it. */
export function episodeStore(address: EpisodeAddress, firstStep = 0): EpisodeStore {
  const inspection = signal<EpisodeInspection | undefined>(undefined);
  const error = signal<ApiError | undefined>(undefined);
  const variation = signal<Variation | null>(null);
  const blunders = signal<readonly KeyMoment[]>([]);
  const step = signal(Math.max(0, firstStep));
  const shown = signal(step.peek());
  const stopFollowing = followPerFrame(step, shown);
  const length = computed(() => {
    const other = variation.value;
    if (other) return other.step + rowsOf(other.table["step"]);
    return inspection.value?.info.length ?? 0;
  });
  const cached = new Map<string, ReadonlySignal<readonly Cell[] | undefined>>();
  const cachedNumbers = new Map<string, ReadonlySignal<Float64Array | undefined>>();
  const columnSignal = (name: string) =>
    found(cached, name, () => computed(() => joinedColumn(inspection.value?.table[name], name, variation.value)));
  const cachedLabels = new Map<string, ReadonlySignal<readonly Cell[] | undefined>>();
  const abort = new AbortController();
  const seek = (wanted: number) => {
    step.value = Math.max(0, Math.min(inspection.peek() ? length.peek() : Infinity, Math.round(wanted)));
  };
  return {
    address,
    inspection,
    error,
    step,
    shown,
    length,
    playing: signal(false),
    speed: signal(1),
    moments: computed(() => [...(inspection.value?.moments ?? []), ...blunders.value]),
    blunders,
    variation,
    column: (name) => columnSignal(name).value,
    labeled: (name) =>
      found(cachedLabels, name, () =>
        computed(() => withOptionNames(columnSignal(name).value, optionNames(inspection.value, name))),
      ).value,
    numbers: (name) =>
      found(cachedNumbers, name, () => computed(() => numbersOf(columnSignal(name).value))).value,
    seek,
    async load() {
      error.value = undefined;
      try {
        inspection.value = await readInspection(address, abort.signal);
        seek(step.peek());
      } catch (problem) {
        if (abort.signal.aborted) return;
        error.value = problem instanceof ApiError ? problem : new ApiError("page", String(problem));
      }
    },
    close() {
      abort.abort();
      stopFollowing();
    },
  };
}

export const EpisodeContext = createContext<EpisodeStore | null>(null);

/** Returns the store of the episode around a component. */
export function useEpisode(): EpisodeStore {
  const store = useContext(EpisodeContext);
  if (!store) throw new Error("There is no EpisodeContext around this component.");
  return store;
}

/** Copies a signal to another one, at most once per animation frame. Returns a function that ends this. */
function followPerFrame<T>(from: ReadonlySignal<T>, to: Signal<T>): () => void {
  let request = 0;
  const stop = effect(() => {
    if (from.value === to.peek() || request) return;
    request = requestAnimationFrame(() => {
      request = 0;
      to.value = from.peek();
    });
  });
  return () => {
    stop();
    if (request) cancelAnimationFrame(request);
  };
}

function rowsOf(values: readonly Cell[] | undefined): number {
  return values?.length ?? 0;
}

function found<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
