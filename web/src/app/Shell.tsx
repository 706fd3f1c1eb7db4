/** The frame of every page: navigation, search, connection bar, toasts, dialogs. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { connected } from "../api/connection";
import { Confirmation } from "../ui/Dialog";
import { Icon } from "../ui/icons";
import { Toasts } from "../ui/toast";
import { openPalette, Palette, useActions } from "./palette";
import { href, Link, navigate, route } from "./router";
import { session } from "./session";
import { useShortcut } from "./shortcuts";
import { ShortcutList } from "./ShortcutList";
import { nextTheme, theme } from "./theme";

const PAGES = [
  { path: "/", label: "Runs", keys: "g r" },
  { path: "/compare", label: "Compare", keys: "g c" },
  { path: "/new", label: "New run", keys: "g n" },
  { path: "/selfplay", label: "League", keys: "g l" },
  { path: "/sweeps", label: "Sweeps", keys: "g s" },
  { path: "/monitor", label: "Monitor", keys: "g m" },
  { path: "/playground", label: "Playground", keys: "g p" },
];

export function Shell({ children }: { children: ComponentChildren }) {
  const showMenu = useSignal(false);
  const showShortcuts = useSignal(false);
  const path = route.value.path;
  useEffect(() => {
    showMenu.value = false;
  }, [path]);
  useShortcut("?", "List the shortcuts", () => (showShortcuts.value = true));
  useShortcut("/", "Search", focusSearch);
  useShortcut("t", "Change the theme: system, light, dark", nextTheme);
  for (const page of PAGES) useShortcut(page.keys, `Go to ${page.label}`, () => navigate(page.path));
  useActions(() => [
    ...PAGES.map((page) => ({ id: page.path, label: page.label, kind: "page", run: () => navigate(page.path) })),
    { id: "guide", label: "Chart guide", kind: "page", run: () => window.open(href("/guide")) },
    { id: "theme", label: "Change the theme", kind: "action", detail: theme.value, run: nextTheme },
    { id: "keys", label: "List the shortcuts", kind: "action", run: () => (showShortcuts.value = true) },
  ]);
  return (
    <>
      <a class="skip-link" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header class="topbar">
        <Link class="brand" to="/" aria-label="gymnast studio, runs">
          gymnast
        </Link>
        <button
          class="icon-button nav-toggle"
          type="button"
          aria-label="Menu"
          aria-expanded={showMenu.value}
          aria-controls="pages"
          onClick={() => (showMenu.value = !showMenu.value)}
        >
          <Icon name="menu" />
        </button>
        <nav id="pages" class={showMenu.value ? "pages open" : "pages"} aria-label="Pages">
          {PAGES.map((page) => (
            <Link key={page.path} to={page.path} aria-current={isCurrent(page.path, path) ? "page" : undefined}>
              {page.label}
            </Link>
          ))}
          <a href={href("/guide")}>Guide</a>
        </nav>
        <span class="topbar-space" />
        {session.value?.read_only && <span class="badge">read-only</span>}
        <button class="palette-button" type="button" onClick={openPalette} aria-label="Search and commands">
          <span class="palette-button-text">Search</span> <kbd>ctrl+k</kbd>
        </button>
        <button
          class="icon-button"
          type="button"
          onClick={nextTheme}
          aria-label={`Theme: ${theme.value}`}
          title={`Theme: ${theme.value === "auto" ? "as the system" : theme.value}`}
        >
          <Icon name={theme.value} />
        </button>
      </header>
      <div class="connection" role="status" data-lost={connected.value ? undefined : ""}>
        {connected.value ? "" : "The connection to the server is lost; the page continues as soon as it answers."}
      </div>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Palette />
      {showShortcuts.value && <ShortcutList onClose={() => (showShortcuts.value = false)} />}
      <Confirmation />
      <Toasts />
    </>
  );
}

function isCurrent(page: string, path: string): boolean {
  if (page === "/") return path === "/" || path.startsWith("/run/");
  return path === page || path.startsWith(`${page}/`);
}

/** Focuses the search field of the page (`data-search`), else opens the palette. */
function focusSearch(): void {
  const field = document.querySelector<HTMLInputElement>("input[data-search]");
  if (!field) openPalette();
  else {
    field.focus();
    field.select();
  }
}

function focusMain(event: Event): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}
