import { describe, expect, test } from "vitest";
import { backoff } from "./connection";
import { advanced, cursorQuery, EventParser, isNew } from "./sse";

const TEXT = 'retry: 1000\n\n: keep-alive\n\nevent: rows\nid: 5/1/2/-\ndata: {"rows":[1],"cursor":5}\n\ndata: a\ndata: b\n\nevent: summary\ndata: {}\n\n';
const EVENTS = [
  { event: "rows", id: "5/1/2/-", data: '{"rows":[1],"cursor":5}' },
  { event: "message", id: "5/1/2/-", data: "a\nb" },
  { event: "summary", id: "5/1/2/-", data: "{}" },
];

describe("a stream is the same however it is cut into pieces", () => {
  test.each([1, 2, 3, 7, 20, 1000])("pieces of %d characters", (size) => {
    for (const text of [TEXT, TEXT.replaceAll("\n", "\r\n")]) {
      const parser = new EventParser();
      const events = [];
      for (let i = 0; i < text.length; i += size) events.push(...parser.push(text.slice(i, i + size)));
      expect(events).toEqual(EVENTS);
    }
  });
  test("an event that is not complete is not reported", () => {
    expect(new EventParser().push("event: rows\ndata: {}\n")).toEqual([]);
  });
});

test("a connection that is opened again asks for what follows", () => {
  const start = { rows: 0, attempt: 1, events: 3, log: "12:a b" };
  const later = advanced(advanced(start, "rows", 40, 2), "events", 4);
  expect(cursorQuery(later)).toBe("rows=40&attempt=2&events=4&log=12%3Aa%20b");
  expect(cursorQuery({ rows: 1, attempt: 1, events: 0 })).toBe("rows=1&attempt=1&events=0");
});

test("nothing is missed or repeated over interruptions at any place", () => {
  const total = 30;
  for (let cut = 0; cut <= total; cut++) {
    let cursors = { rows: 0, attempt: 1, events: 0 };
    const seen: number[] = [];
    const deliver = (from: number, to: number) => {
      for (let row = from; row <= to; row++) {
        if (!isNew("rows", row, cursors)) continue;
        cursors = advanced(cursors, "rows", row, 1) as typeof cursors;
        seen.push(row);
      }
    };
    deliver(1, cut);
    // The server may repeat what was under way when the connection ended.
    deliver(Math.max(1, cursors.rows - 2), total);
    expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 1));
  }
});

test("attempts to connect are rarer and rarer, but never more than 5 s apart", () => {
  const waits = Array.from({ length: 12 }, (_, i) => backoff(i));
  expect(waits[0]).toBe(250);
  expect(waits.every((wait, i) => i === 0 || wait >= (waits[i - 1] ?? 0))).toBe(true);
  expect(Math.max(...waits)).toBe(5000);
});
