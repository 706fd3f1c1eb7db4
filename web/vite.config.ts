import { defineConfig } from "vitest/config";

/** Addresses are relative to <base href>, which the server sets, so that the app works under a path prefix. */
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "../gymnast/studio/static",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8765", "/files": "http://127.0.0.1:8765" } },
  test: { environment: "node", include: ["src/**/*.test.ts"], css: true },
});
