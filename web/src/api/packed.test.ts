import { expect, test } from "vitest";
import { unpack } from "./packed";

/** Packs a header and data as the server does. */
function packed(header: unknown, data: number[]): ArrayBuffer {
  const text = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const buffer = new ArrayBuffer(start + 8 * data.length);
  const view = new DataView(buffer);
  view.setUint32(0, text.length, true);
  new Uint8Array(buffer, 4).set(text);
  data.forEach((value, i) => view.setFloat64(start + 8 * i, value, true));
  return buffer;
}

test.each(["", "x", "xx", "xxx", "xxxx", "ünïcode"])("arrays are found after a header with the text %j", (name) => {
  const header = { name, series: [{ x: { $f64: [0, 2] }, mean: { $f64: [2, 3] } }], none: { $f64: [5, 0] }, range: null };
  const record = unpack(packed(header, [1, 2, 0.1 + 0.2, NaN, -Infinity])) as {
    name: string;
    series: { x: Float64Array; mean: Float64Array }[];
    none: Float64Array;
    range: null;
  };
  expect(record.name).toBe(name);
  expect([...(record.series[0]?.x ?? [])]).toEqual([1, 2]);
  expect([...(record.series[0]?.mean ?? [])]).toEqual([0.1 + 0.2, NaN, -Infinity]);
  expect(record.none.length).toBe(0);
  expect(record.range).toBeNull();
});

test("a cut record is an error", () => {
  const whole = packed({ x: { $f64: [0, 4] } }, [1, 2, 3, 4]);
  for (const size of [0, 3, 10, whole.byteLength - 8]) expect(() => unpack(whole.slice(0, size))).toThrow();
});
