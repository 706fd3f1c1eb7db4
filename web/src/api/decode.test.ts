import { expect, test } from "vitest";
import { decodeRecord, decodeResult, decodeRows } from "./decode";

test("texts become numbers where a record has numbers, and nowhere else", () => {
  const page = { runs: [{ id: "nan", name: "inf", created: 1, score: { mean: 2, low: "-inf", high: "inf", iqm: null }, clocks: { seconds: "nan" }, tags: ["nan"] }] };
  const decoded = decodeResult("runs", structuredClone(page)) as typeof page;
  expect(decoded.runs[0]).toEqual({
    ...page.runs[0],
    score: { mean: 2, low: -Infinity, high: Infinity, iqm: null },
    clocks: { seconds: NaN },
  });
});

test("rows, single records and unknown operations", () => {
  expect(decodeRows([{ "a/b": "nan", "a/c": 1 }])).toEqual([{ "a/b": NaN, "a/c": 1 }]);
  expect(decodeRecord("RunScore", { mean: "nan", role: "nan" })).toEqual({ mean: NaN, role: "nan" });
  expect(decodeResult("unknown", { x: "nan" })).toEqual({ x: "nan" });
  expect(decodeResult("charts", [{ series: [{ y: ["inf", null], label: "inf" }], healthy: [null, "inf"] }])).toEqual([
    { series: [{ y: [Infinity, null], label: "inf" }], healthy: [null, Infinity] },
  ]);
});
