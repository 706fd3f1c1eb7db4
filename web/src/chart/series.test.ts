import { describe, expect, test } from "vitest";
import tokens from "../ui/styles/tokens.css?raw";
import { clustered } from "./clusters";
import { COLORS, colorOf, colorsOf, inkAt, palette } from "./colors";
import { csvText, wrapped } from "./export";
import { bars, ticksBetween } from "./histogram";
import { LiveCurves } from "./live";
import { packed, Pixels } from "./pixels";
import { smoothed } from "./smooth";
import { stackedEdges } from "./stackedModel";
import type { ChartMark } from "./types";

describe("smoothing", () => {
  test("agrees with the weighted mean of all earlier values", () => {
    const values = [3, 1, 4, 1, 5, 9, 2, 6];
    const weight = 0.8;
    const expected = values.map((_, i) => {
      const weights = values.slice(0, i + 1).map((_value, j) => weight ** (i - j));
      const total = weights.reduce((sum, w) => sum + w, 0);
      return weights.reduce((sum, w, j) => sum + w * (values[j] ?? 0), 0) / total;
    });
    smoothed(values, weight).forEach((value, i) => expect(value).toBeCloseTo(expected[i] ?? NaN, 12));
  });
  test("gaps stay gaps and do not count", () => {
    const result = smoothed([1, null, NaN, 3, Infinity], 0.5);
    expect([...result].map(Number.isNaN)).toEqual([false, true, true, false, true]);
    expect(result[3]).toBeCloseTo(smoothed([1, 3], 0.5)[1] ?? NaN, 12);
  });
  test("without weight, and for constants, nothing changes", () => {
    expect([...smoothed([1, 5, 2], 0)]).toEqual([1, 5, 2]);
    smoothed([7, 7, 7], 0.99).forEach((value) => expect(value).toBeCloseTo(7, 12));
  });
});

describe("colors", () => {
  const names = Array.from({ length: 40 }, (_, i) => `run-${i}`);
  test("a run keeps its color whatever else is shown, unless it is taken", () => {
    const [first = ""] = names;
    expect(colorsOf([first]).get(first)).toEqual(colorsOf([first, ...names]).get(first));
    expect(colorOf(first).color).toBe(colorsOf([first]).get(first)?.color);
  });
  test("added runs do not change the colors of earlier ones", () => {
    const few = colorsOf(names.slice(0, 10));
    const many = colorsOf(names);
    for (const [name, ink] of few) expect(many.get(name)).toEqual(ink);
  });
  test("as many runs as there are inks differ from each other", () => {
    const inks = [...colorsOf(names.slice(0, COLORS * 4)).values()].map((ink) => JSON.stringify(ink));
    expect(new Set(inks).size).toBe(COLORS * 4);
    expect(new Set([...colorsOf(names.slice(0, COLORS)).values()].map((ink) => ink.color)).size).toBe(COLORS);
  });
  test("dashes follow when the colors are used up", () => {
    expect(inkAt(COLORS).color).toBe(inkAt(0).color);
    expect(inkAt(COLORS).dash).toBeDefined();
  });
  test("every color and text has a contrast of at least 4.5:1", () => {
    const [light = "", dark = ""] = tokens.split('[data-theme="dark"]');
    for (const [theme, css] of [["light", light], ["dark", dark]] as const) {
      const value = (name: string) => new RegExp(`--${name}: (#\\w{6})`).exec(css)?.[1] ?? "";
      palette(theme).forEach((color, i) => {
        expect(value(`series-${i}`)).toBe(color);
        expect(contrast(color, value("bg"))).toBeGreaterThanOrEqual(4.5);
      });
      for (const text of ["text", "muted", "accent", "good", "bad", "warning"]) {
        for (const ground of ["bg", "bg-raised", "bg-hover", "bg-selected", "bg-overlay"]) {
          expect(contrast(value(text), value(ground)), `${theme}: ${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
        }
      }
      expect(contrast(value("on-accent"), value("accent"))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(value("good"), value("bg-good"))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(value("bad"), value("bg-bad"))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(value("warning"), value("bg-warning"))).toBeGreaterThanOrEqual(4.5);
      expect(contrast(value("bg"), value("bad"))).toBeGreaterThanOrEqual(4.5);
    }
  });
});

function contrast(a: string, b: string): number {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const parts = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = parts.map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

test("rows that arrive are appended; what was there is not copied", () => {
  const start = { run: "a", key: "m", x: [1, 2], mean: [10, NaN], low: [9, NaN], high: [11, NaN], total: 2 };
  const live = new LiveCurves("a", "vec_steps", { series: [start, { ...start, run: "b" }] });
  const before = live.series("m")?.x as Float64Array;
  const changed = live.append([{ "clock/vec_steps": 3, m: 30, n: 1 }, { "clock/vec_steps": 4, m: 40 }, { m: 99 }]);
  expect([...changed].sort()).toEqual(["m", "n"]);
  const series = live.series("m");
  expect(Array.from(series?.x ?? [])).toEqual([1, 2, 3, 4]);
  expect(Array.from(series?.mean ?? [])).toEqual([10, NaN, 30, 40]);
  expect(series?.total).toBe(4);
  expect((series?.x as Float64Array).buffer).toBe(before.buffer);
  expect(Array.from(live.series("n")?.x ?? [])).toEqual([3]);
  for (let i = 0; i < 1000; i++) live.append([{ "clock/vec_steps": 5 + i, m: i }]);
  expect(live.series("m")?.x.length).toBe(1004);
  expect(live.series("m")?.mean[1003]).toBe(999);
  expect(live.isFull(800)).toBe(false);
  expect(live.isFull(400)).toBe(true);
});

test("marks that are close are one, the most important first", () => {
  const mark = (x: number, kind: ChartMark["kind"], level?: "error" | "warning") => ({ x, kind, text: `${kind} ${x}`, ...(level ? { level } : {}) });
  const clusters = clustered([mark(52, "evaluation"), mark(50, "checkpoint"), mark(10, "evaluation"), mark(300, "stage")], (x) => x, 100);
  expect(clusters.map(({ left, kind, marks }) => [left, kind, marks.length])).toEqual([[10, "evaluation", 1], [50, "checkpoint", 2]]);
  expect(clustered([mark(1, "alert", "warning"), mark(2, "alert", "error")], (x) => x, 100)[0]?.level).toBe("error");
});

test("CSV keeps every digit, leaves gaps empty and quotes names", () => {
  const columns = [
    { name: "vec steps", values: [1, 2] },
    { name: 'a "b", c', values: [0.1 + 0.2, null] },
    { name: "=cmd()", values: [NaN, 1e-7] },
  ];
  expect(csvText(columns)).toBe('vec steps,"a ""b"", c",\'=cmd()\n1,0.30000000000000004,\n2,,1e-7\n');
});

test("stacked shares end at one, and are gaps where there is nothing to share", () => {
  const [first, last] = stackedEdges([[1, -3, 0, 1], [3, 1, 0, null]]);
  expect([...(first ?? [])]).toEqual([0.25, 0.75, NaN, NaN]);
  expect([...(last ?? [])]).toEqual([1, 1, NaN, NaN]);
});

test("bars cover the box, and their ticks are round", () => {
  const { bars: drawn, highest } = bars([{ edges: [0, 10, 30], counts: [2, 4] }], 300, 100, false);
  expect(highest).toBe(4);
  expect(drawn.map(({ left, top, height }) => [left, top, height])).toEqual([[0, 50, 50], [100, 0, 100]]);
  expect(ticksBetween(0, 4, 4)).toEqual([0, 1, 2, 3, 4]);
  expect(ticksBetween(0.13, 0.52, 4)).toEqual([0.2, 0.3, 0.4, 0.5]);
  expect(wrapped([50, 60, 40], 100)).toEqual([{ row: 0, left: 0 }, { row: 1, left: 0 }, { row: 1, left: 60 }]);
});

test("lines of the pixel buffer are connected, and gaps stay empty", () => {
  const pixels = new Pixels();
  pixels.reset(20, 10);
  pixels.line(Float64Array.from([0, 9, 12, 19]), Float64Array.from([9, 0, NaN, 5]), 4, 1, 7);
  const columns = Array.from({ length: 20 }, (_, x) => Array.from({ length: 10 }, (_value, y) => pixels.data[y * 20 + x]).flatMap((value, y) => (value ? [y] : [])));
  for (let x = 1; x < 9; x++) {
    const [here = [], before = []] = [columns[x], columns[x - 1]];
    expect(Math.max(...here)).toBeGreaterThanOrEqual(Math.min(...before) - 1);
    expect(Math.max(...here)).toBeLessThanOrEqual(Math.max(...before));
  }
  expect(columns[0]).toContain(9);
  expect(columns[11]).toEqual([]);
  expect(columns[19]).toEqual([5]);
  pixels.reset(10, 10);
  expect(pixels.data.slice(0, 100).every((value) => value === 0)).toBe(true);
  expect([...new Uint8Array(Uint32Array.of(packed("#0072b2", 1)).buffer)]).toEqual([0x00, 0x72, 0xb2, 255]);
});
