import { describe, expect, test } from "vitest";
import cases from "./numbers.cases.json";
import { formatAge, formatArea, formatCount, formatDuration, formatMetric, formatNumber, formatShort, formatSize, fullPrecision } from "./numbers";

type Case = (string | number)[];

function numberOf(value: string | number): number {
  return typeof value === "number" ? value : { nan: NaN, inf: Infinity, "-inf": -Infinity }[value] ?? NaN;
}

/** Returns the cases whose text differs from Python's. */
function differences(table: unknown, format: (value: number, ...rest: Case) => string): string[] {
  return (table as Case[]).flatMap((entry) => {
    const expected = entry.at(-1);
    const value = numberOf(entry.at(-2) as string | number);
    const text = format(value, ...entry.slice(0, -2));
    return text === expected ? [] : [`${entry.slice(0, -1).join(" ")}: ${text}, Python: ${String(expected)}`];
  });
}

describe("numbers are formatted as Python formats them", () => {
  test("metrics", () => {
    const format = (value: number, unit: string | number, digits: string | number) =>
      formatMetric({ unit: String(unit), digits: Number(digits) }, value);
    expect(differences(cases.metric, format as (value: number, ...rest: Case) => string)).toEqual([]);
  });
  test.each([
    ["number", formatNumber],
    ["count", formatCount],
    ["area", formatArea],
    ["size", formatSize],
    ["duration", formatDuration],
    ["age", formatAge],
  ] as const)("%s", (name, format) => {
    expect(differences(cases[name], format)).toEqual([]);
  });
});

test("full precision keeps every digit", () => {
  for (const value of [0.1 + 0.2, 1 / 3, 5e-324, 1.7976931348623157e308, -0.1]) {
    expect(Number(fullPrecision(value))).toBe(value);
  }
});

test.each([
  [0, "0"],
  [1500, "1.5k"],
  [200_000, "200k"],
  [1_500_000, "1.5M"],
  [0.25, "0.25"],
  [-0.00002, "-2e-5"],
  [2e9, "2G"],
])("the short form of %d is %s", (value, text) => {
  expect(formatShort(value)).toBe(text);
});
