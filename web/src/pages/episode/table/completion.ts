/** Words that can follow in a filter. Pure functions. */
import type { Cell } from "../types";
import { resolveColumn } from "./names";
import { OPERATORS, tokens, type Token } from "./tokens";

export interface Completion {
  /** What is put in. */
  text: string;
  /** What it is, shown beside it. */
  detail: string;
}

export interface Completions {
  /** The part of the filter that a completion replaces. */
  start: number;
  end: number;
  entries: Completion[];
}

export interface KnownColumn {
  name: string;
  detail: string;
  values: readonly Cell[];
}

const LISTED = 12;
const MEANINGS: Record<string, string> = {
  "<": "less than",
  "<=": "at most",
  ">": "greater than",
  ">=": "at least",
  "=": "equal",
  "!=": "not equal",
  "~": "contains",
};

/** Returns what can be written at a position of a filter. */
export function completions(filter: string, cursor: number, columns: readonly KnownColumn[]): Completions {
  const before = words(filter.slice(0, cursor));
  const last = before.at(-1);
  const isTyping = last !== undefined && last.end === cursor && (last.kind === "name" || last.kind === "number");
  const typed = isTyping ? last.text : "";
  const done = isTyping ? before.slice(0, -1) : before;
  const entries = expected(done, columns).filter(({ text }) => fits(text, typed));
  return { start: isTyping ? last.start : cursor, end: cursor, entries: entries.slice(0, LISTED) };
}

/** Returns the filter with a completion put in, and where the cursor is then. */
export function completed(filter: string, { start, end }: Completions, { text }: Completion): { filter: string; cursor: number } {
  const needsSpace = start > 0 && !/[\s(]/.test(filter[start - 1] ?? "");
  const inserted = `${needsSpace ? " " : ""}${text} `;
  const rest = filter.slice(end).trimStart();
  return { filter: filter.slice(0, start) + inserted + rest, cursor: start + inserted.length };
}

function expected(done: readonly Token[], columns: readonly KnownColumn[]): Completion[] {
  const last = done.at(-1);
  const isJoined = last?.kind === "name" && ["and", "or", "not"].includes(last.text.toLowerCase());
  if (!last || last.kind === "open" || isJoined) return [...named(columns), { text: "not", detail: "the opposite" }];
  if (last.kind === "operator") {
    const column = columnOf(done.at(-2), columns);
    const texts = column ? distinctTexts(column.values) : [];
    return texts.length ? texts.map((text) => ({ text, detail: "" })) : named(columns);
  }
  // After a text, further words may belong to it.
  const isLeft = done.at(-2)?.kind !== "operator" && (last.kind === "name" || last.kind === "text");
  const column = isLeft ? columnOf(last, columns) : undefined;
  const joins = ["and", "or"].map((text) => ({ text, detail: "" }));
  if (!column) return joins;
  const isText = typeof column.values[0] === "string";
  if (typeof column.values[0] === "boolean") return joins;
  return OPERATORS.filter((operator) => !isText || ["=", "!=", "~"].includes(operator)).map((text) => ({ text, detail: MEANINGS[text] ?? "" }));
}

function named(columns: readonly KnownColumn[]): Completion[] {
  return columns.map(({ name, detail }) => ({ text: quotedIfNeeded(name), detail }));
}

function columnOf(token: Token | undefined, columns: readonly KnownColumn[]): KnownColumn | undefined {
  if (!token) return undefined;
  const found = resolveColumn(token.text, columns.map(({ name }) => name));
  return columns.find(({ name }) => name === found);
}

function distinctTexts(values: readonly Cell[]): string[] {
  if (typeof values[0] !== "string") return [];
  return [...new Set(values)].slice(0, LISTED).map((value) => quotedIfNeeded(String(value)));
}

function quotedIfNeeded(text: string): string {
  return /^[\p{L}\p{N}_./:-]+$/u.test(text) ? text : `"${text}"`;
}

function fits(text: string, typed: string): boolean {
  const [name, part] = [text.toLowerCase(), typed.toLowerCase()];
  return name.startsWith(part) || name.replace(/^"/, "").split(/[/_ ]/).some((word) => word.startsWith(part));
}

/** Returns the words of a filter that is not finished. */
function words(filter: string): Token[] {
  try {
    return tokens(filter);
  } catch {
    return [];
  }
}
