/** Signing in with the token of the link that the terminal prints, and what this session may do. */
import { computed, effect, signal, type ReadonlySignal } from "@preact/signals";
import { ApiError, asApiError, request, signedOut } from "../api/client";
import { onRecovery } from "../api/connection";
import type { Clock, Session } from "../api/types";

const state = signal<Session | undefined>(undefined);
const failure = signal<ApiError | undefined>(undefined);

/** undefined until the server has answered. */
export const session: ReadonlySignal<Session | undefined> = state;
export const sessionError: ReadonlySignal<ApiError | undefined> = failure;

/** Why nothing can be changed; empty if it can. */
export const readOnlyReason = computed(() =>
  state.value?.read_only ? "This studio is read-only. Start it without --read-only to change runs." : "",
);

/** Returns the clock of every view that names none: that of the settings file. */
export function defaultClock(): Clock {
  return state.value?.clock ?? "vec_steps";
}

/** Returns the token of an address fragment (`#token=...`); empty if it has none. */
export function tokenOf(fragment: string): string {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token") ?? "";
}

/** Signs in with the token of the address, if it has one, and reads what the session may do. */
export async function startSession(): Promise<void> {
  const token = tokenOf(location.hash);
  if (token) history.replaceState(history.state, "", location.pathname + location.search);
  try {
    if (token) {
      const answer = await request("api/session", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ token }),
      });
      await answer.text();
    }
    failure.value = undefined;
  } catch (error) {
    failure.value = asApiError(error);
  }
  await readSession();
}

/** Reads the session again: after the server was restarted, its token may be another one. */
export async function readSession(): Promise<void> {
  try {
    state.value = (await (await request("api/session")).json()) as Session;
  } catch (error) {
    if (error instanceof ApiError && error.code !== "offline") failure.value = error;
  }
}

onRecovery(() => void readSession());
effect(() => {
  if (signedOut.value) void readSession();
});
