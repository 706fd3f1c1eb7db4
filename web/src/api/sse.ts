/** Parses server-sent events, and keeps the position in a stream. Pure functions, without network. */
import type { Cursors } from "./types";

export interface ServerEvent {
  event: string;
  data: string;
  id: string;
}

/** Splits a stream of text into events. Text that is not a whole event yet is kept. */
export class EventParser {
  private rest = "";
  private lastId = "";

  /** Returns the events that a piece of text completes. */
  push(text: string): ServerEvent[] {
    // A lone \r at the end may be half of \r\n: it stays in the rest.
    const whole = this.rest + text;
    const lines = whole.replace(/\r\n/g, "\n").split("\n\n");
    this.rest = lines.pop() ?? "";
    return lines.map((block) => this.parsed(block)).filter((event) => event !== null);
  }

  private parsed(block: string): ServerEvent | null {
    let event = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const colon = line.indexOf(":");
      if (colon === 0 || line === "") continue; // a comment
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "event") event = value;
      else if (field === "data") data.push(value);
      else if (field === "id") this.lastId = value;
    }
    return data.length ? { event, data: data.join("\n"), id: this.lastId } : null;
  }
}

/** Returns the query that asks for what follows the cursors. */
export function cursorQuery(cursors: Cursors): string {
  const { rows, attempt, events, log } = cursors;
  const query = `rows=${rows}&attempt=${attempt}&events=${events}`;
  return log === undefined ? query : `${query}&log=${encodeURIComponent(log)}`;
}

/** Returns whether a message is new: one whose cursor is not after ours was already seen. */
export function isNew(name: "rows" | "events", cursor: number, cursors: Cursors): boolean {
  return cursor > cursors[name];
}

/** Returns the cursors after a message. */
export function advanced(cursors: Cursors, name: "rows" | "events", cursor: number, attempt?: number): Cursors {
  return { ...cursors, [name]: cursor, attempt: attempt ?? cursors.attempt };
}
