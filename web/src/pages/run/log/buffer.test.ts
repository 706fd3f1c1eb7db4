import { describe, expect, it } from "vitest";
import { appendLog, EMPTY_LOG, markedParts, matchingLines } from "./buffer";

describe("appendLog", () => {
  it("gives the same lines however the text is divided", () => {
    const text = "one\ntwo\r\nthree <b>&\n\nfour";
    let buffer = EMPTY_LOG;
    for (const character of text) buffer = appendLog(buffer, character);
    expect(buffer).toEqual(appendLog(EMPTY_LOG, text));
    expect(buffer.lines).toEqual(["one", "two", "three <b>&", ""]);
    expect(buffer.rest).toBe("four");
  });
  it("keeps the last lines and counts the others", () => {
    const buffer = appendLog(appendLog(EMPTY_LOG, "1\n2\n3\n", 2), "4\n", 2);
    expect([buffer.lines, buffer.dropped]).toEqual([["3", "4"], 2]);
  });
  it("removes colors and overwritten progress bars", () => {
    expect(appendLog(EMPTY_LOG, "10%\r20%\r\u001b[1;31mdone\u001b[0m\n").lines).toEqual(["done"]);
  });
});

describe("search", () => {
  it("finds lines and marks the matches", () => {
    expect(matchingLines(["Error: x", "fine", "an ERROR"], "error")).toEqual([0, 2]);
    expect(matchingLines(["a"], "")).toEqual([]);
    expect(markedParts("an ERROR, error", "error")).toEqual(["an ", "ERROR", ", ", "error", ""]);
    expect(markedParts("fine", "error")).toEqual(["fine"]);
  });
  it("never loses text", () => {
    for (const line of ["aaaa", "abab", "", "İx", "<script>"]) {
      for (const text of ["a", "ab", "x", "<"]) expect(markedParts(line, text).join("")).toBe(line);
    }
  });
});
