/** The end of a log: complete lines as they arrive, and the search in them. */

export const MAX_LINES = 5000;

export interface LogBuffer {
  lines: readonly string[];
  /** The start of a line that is not complete yet. */
  rest: string;
  /** Number of lines that were dropped at the start because there are too many. */
  dropped: number;
}

export const EMPTY_LOG: LogBuffer = { lines: [], rest: "", dropped: 0 };

/** Returns the buffer with more text at its end. */
export function appendLog(buffer: LogBuffer, text: string, limit = MAX_LINES): LogBuffer {
  if (!text) return buffer;
  const added = (buffer.rest + text).split(/\r?\n/);
  const rest = added.pop()!;
  const lines = added.length ? [...buffer.lines, ...added.map(withoutEscapes)] : buffer.lines;
  const excess = Math.max(lines.length - limit, 0);
  return { lines: excess ? lines.slice(excess) : lines, rest, dropped: buffer.dropped + excess };
}

/** Returns the indices of the lines that contain the text, ignoring letter case; none for an empty text. */
export function matchingLines(lines: readonly string[], text: string): number[] {
  const wanted = text.toLowerCase();
  if (!wanted) return [];
  return lines.flatMap((line, index) => (line.toLowerCase().includes(wanted) ? [index] : []));
}

/** Splits a line into parts that match the text and parts that do not, which alternate; the first does not match. */
export function markedParts(line: string, text: string): string[] {
  const wanted = text.toLowerCase();
  if (!wanted) return [line];
  const lower = line.toLowerCase();
  // Lowering may change the length of exotic letters; then positions do not fit, and nothing is marked.
  if (lower.length !== line.length) return [line];
  const parts: string[] = [];
  let from = 0;
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    parts.push(line.slice(from, at), line.slice(at, at + wanted.length));
    from = at + wanted.length;
  }
  return [...parts, line.slice(from)];
}

/** Removes the escape sequences with which programs color a terminal, and what a carriage return overwrote. */
function withoutEscapes(line: string): string {
  const plain = line.replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, "");
  return plain.slice(plain.lastIndexOf("\r") + 1);
}
