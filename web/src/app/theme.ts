/** Light and dark: as the system says, or as chosen. */
import { effect, signal, computed, type ReadonlySignal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";
const KEY = "gymnast.theme";
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(dark.matches);
dark.addEventListener("change", () => (systemIsDark.value = dark.matches));

export const theme = signal<Theme>(stored());

/** The theme that is shown; charts draw again when it changes. */
export const shownTheme: ReadonlySignal<"light" | "dark"> = computed(() =>
  theme.value === "auto" ? (systemIsDark.value ? "dark" : "light") : theme.value,
);

effect(() => {
  document.documentElement.dataset["theme"] = shownTheme.value;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // Storage may be forbidden; the choice then lasts until the page is closed.
  }
});

/** Changes to the next choice: auto, light, dark. */
export function nextTheme(): void {
  const order: Theme[] = ["auto", "light", "dark"];
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? "auto";
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "auto";
  } catch {
    return "auto";
  }
}
