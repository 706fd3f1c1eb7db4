/** Cached reads as signals. */
import { signal, useSignal, type ReadonlySignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { asApiError, type ApiError } from "./client";
import { onRecovery } from "./connection";

export interface Query<T> {
  /** The newest data; the old one while it reloads, undefined before the first. */
  data: ReadonlySignal<T | undefined>;
  /** The error of the last attempt; undefined if it succeeded. */
  error: ReadonlySignal<ApiError | undefined>;
  loading: ReadonlySignal<boolean>;
  refresh(): void;
}

interface Entry {
  data: Signal<unknown>;
  error: Signal<ApiError | undefined>;
  loading: Signal<boolean>;
  /** Number of the latest load: the answers of earlier ones are ignored. */
  turn: number;
  load: () => Promise<unknown>;
  users: number;
}

const CACHED = 60;
const entries = new Map<string, Entry>();

/** Returns the data of `load`, shared by all components with the same key, and loaded again when a component
 * appears. With another key, the data of the old one is kept until the new one has some. An empty key loads
 * nothing. */
export function useQuery<T>(key: string, load: () => Promise<T>): Query<T> {
  const data = useSignal<T | undefined>(cached<T>(key));
  const error = useSignal<ApiError | undefined>(undefined);
  const loading = useSignal(key !== "");
  const latest = useRef(load);
  latest.current = load;
  const current = useRef(key);
  current.current = key;
  useEffect(() => {
    if (!key) {
      loading.value = false;
      return undefined;
    }
    const entry = entryOf(key);
    entry.users++;
    entry.load = () => latest.current();
    void reload(entry);
    const ends = [
      entry.data.subscribe((value) => value !== undefined && (data.value = value as T)),
      entry.error.subscribe((value) => (error.value = value)),
      entry.loading.subscribe((value) => (loading.value = value)),
      onRecovery(() => void reload(entry)),
    ];
    return () => {
      entry.users--;
      ends.forEach((end) => end());
      forgetOldest();
    };
  }, [key]);
  return { data, error, loading, refresh: () => current.current && refreshQuery(current.current) };
}

/** Loads the data of a key again, and of every key that starts with it followed by a colon. */
export function refreshQuery(key: string): void {
  for (const [name, entry] of entries) {
    if (name !== key && !name.startsWith(`${key}:`)) continue;
    if (entry.users) void reload(entry);
    else entries.delete(name);
  }
}

function cached<T>(key: string): T | undefined {
  return entries.get(key)?.data.peek() as T | undefined;
}

function entryOf(key: string): Entry {
  const found = entries.get(key);
  if (found) {
    entries.delete(key);
    entries.set(key, found); // the newest is last
    return found;
  }
  const entry: Entry = {
    data: signal<unknown>(undefined),
    error: signal<ApiError | undefined>(undefined),
    loading: signal(false),
    turn: 0,
    load: () => Promise.resolve(undefined),
    users: 0,
  };
  entries.set(key, entry);
  return entry;
}

async function reload(entry: Entry): Promise<void> {
  const turn = ++entry.turn;
  entry.loading.value = true;
  try {
    const data = await entry.load();
    if (turn !== entry.turn) return;
    entry.data.value = data;
    entry.error.value = undefined;
  } catch (error) {
    if (turn !== entry.turn) return;
    entry.error.value = asApiError(error);
  } finally {
    if (turn === entry.turn) entry.loading.value = false;
  }
}

function forgetOldest(): void {
  for (const [key, entry] of entries) {
    if (entries.size <= CACHED) return;
    if (!entry.users) entries.delete(key);
  }
}
