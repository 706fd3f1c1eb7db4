/** Filters of the step table: `advantage < -1`, `action = left and reward > 0`, `not greedy`, `abs(td_error) >= 2`,
 * `action = push left`, `value > return or (truncated and step > 100)`. Pure functions.
 *
 *   filter     := all ("or" all)*
 *   all        := condition ("and" condition)*
 *   condition  := "not" condition | "(" filter ")" | side [operator side]
 *   side       := column | "abs" "(" column ")" | number | text
 */
import type { Cell } from "../types";
import { resolveColumn, similarName } from "./names";
import { FilterError, tokens, type Token } from "./tokens";
export { FilterError } from "./tokens";

/** Returns whether a step belongs to what is shown. */
export type RowTest = (row: number) => boolean;

/** Column name -> its values. */
export type Lookup = (column: string) => readonly Cell[] | undefined;

interface Side {
  value: (row: number) => Cell | undefined;
  token: Token;
  /** The column it comes from; undefined for numbers and texts. */
  column?: string;
}

/** Returns the test of a filter; null for an empty one. Throws FilterError. */
export function parseFilter(filter: string, columns: readonly string[], lookup: Lookup): RowTest | null {
  const words = tokens(filter);
  return words.length ? new Parser(words, filter.length, columns, lookup).filter() : null;
}

class Parser {
  private at = 0;

  constructor(
    private readonly words: readonly Token[],
    private readonly end: number,
    private readonly columns: readonly string[],
    private readonly lookup: Lookup,
  ) {}

  filter(): RowTest {
    const test = this.any();
    const rest = this.words[this.at];
    if (rest) throw new FilterError(`"${rest.text}" follows a complete condition`, rest.start, "Join conditions with and, or.");
    return test;
  }

  private any(): RowTest {
    const tests = [this.all()];
    while (this.takeWord("or")) tests.push(this.all());
    return tests.length === 1 ? (tests[0] as RowTest) : (row) => tests.some((test) => test(row));
  }

  private all(): RowTest {
    const tests = [this.condition()];
    while (this.takeWord("and")) tests.push(this.condition());
    return tests.length === 1 ? (tests[0] as RowTest) : (row) => tests.every((test) => test(row));
  }

  private condition(): RowTest {
    if (this.takeWord("not")) {
      const test = this.condition();
      return (row) => !test(row);
    }
    if (this.take("open")) {
      const test = this.any();
      this.close();
      return test;
    }
    const left = this.side();
    const operator = this.take("operator");
    if (operator) return compared(left, operator, this.side(left));
    if (left.column === undefined) throw new FilterError(`"${left.token.text}" is compared with nothing`, left.token.start, "Write a column, an operator and a value.");
    return (row) => Boolean(left.value(row)) && !Number.isNaN(left.value(row));
  }

  /** `left`: the other side of the comparison, if this is the right one. */
  private side(left?: Side): Side {
    const token = this.words[this.at];
    if (!token) throw new FilterError("something is missing at the end", this.end, "Write a column, an operator and a value, such as advantage < -1.");
    this.at++;
    if (token.kind === "number") return { value: () => Number(token.text), token };
    if (token.kind === "text") return this.quoted(token);
    if (token.kind !== "name") throw new FilterError(`"${token.text}" stands where a column or a value is expected`, token.start);
    if (token.text.toLowerCase() === "abs" && this.take("open")) {
      const inner = this.side();
      this.close();
      return { ...inner, value: (row) => Math.abs(Number(inner.value(row))) };
    }
    // Actions and components may have the same names: next to a column of texts, a word is a text.
    if (left && typeof left.value(0) === "string") return this.wordsFrom(token);
    return this.named(token, left !== undefined);
  }

  /** A text of several words needs no quotes: `action = push left`. */
  private wordsFrom(token: Token): Side {
    const texts = [token.text];
    for (let next = this.words[this.at]; next && isWord(next); next = this.words[++this.at]) texts.push(next.text);
    const text = texts.join(" ");
    return { value: () => text, token };
  }

  /** Quotes are for texts, and for columns with spaces in their names. */
  private quoted(token: Token): Side {
    const values = this.columns.includes(token.text) ? this.lookup(token.text) : undefined;
    return values ? { value: (row) => values[row], token, column: token.text } : { value: () => token.text, token };
  }

  private named(token: Token, isRight: boolean): Side {
    const found = resolveColumn(token.text, this.columns);
    if (typeof found === "string") {
      const values = this.lookup(found);
      return { value: (row) => values?.[row], token, column: found };
    }
    const lower = token.text.toLowerCase();
    if (isRight && (lower === "true" || lower === "false")) return { value: () => lower === "true", token };
    if (isRight) return { value: () => token.text, token };
    if (found.length) throw new FilterError(`${token.text} could be ${listed(found)}`, token.start, "Write the whole name.");
    const similar = similarName(token.text, this.columns);
    throw new FilterError(`there is no column ${token.text}`, token.start, similar ? `Did you mean ${similar}?` : "Press arrow down to choose a column.");
  }

  private take(kind: Token["kind"]): Token | undefined {
    const token = this.words[this.at];
    if (token?.kind !== kind) return undefined;
    this.at++;
    return token;
  }

  private takeWord(word: string): boolean {
    const token = this.words[this.at];
    if (token?.kind !== "name" || token.text.toLowerCase() !== word) return false;
    this.at++;
    return true;
  }

  private close(): void {
    if (!this.take("close")) throw new FilterError("a closing parenthesis is missing", this.words[this.at]?.start ?? this.end);
  }
}

function isWord({ kind, text }: Token): boolean {
  return (kind === "name" && !["and", "or", "not"].includes(text.toLowerCase())) || kind === "number";
}

function compared(left: Side, operator: Token, right: Side): RowTest {
  const tests: Record<string, (a: Cell | undefined, b: Cell | undefined) => boolean> = {
    "<": (a, b) => Number(a) < Number(b),
    "<=": (a, b) => Number(a) <= Number(b),
    ">": (a, b) => Number(a) > Number(b),
    ">=": (a, b) => Number(a) >= Number(b),
    "=": isEqual,
    "!=": (a, b) => !isEqual(a, b),
    "~": (a, b) => String(a).toLowerCase().includes(String(b).toLowerCase()),
  };
  const test = tests[operator.text];
  if (!test) throw new FilterError(`${operator.text} is no operator`, operator.start);
  const isOrder = ["<", "<=", ">", ">="].includes(operator.text);
  if (isOrder && right.column === undefined && typeof right.value(0) === "string") {
    throw new FilterError(`${operator.text} needs a number, not "${right.token.text}"`, right.token.start, "Compare texts with = or ~.");
  }
  return (row) => test(left.value(row), right.value(row));
}

function isEqual(a: Cell | undefined, b: Cell | undefined): boolean {
  if (a === undefined || b === undefined || a === null || b === null) return false;
  if (typeof a === "string" || typeof b === "string") return String(a).toLowerCase() === String(b).toLowerCase();
  return Number(a) === Number(b);
}

function listed(names: readonly string[]): string {
  const [last, ...others] = [...names].reverse();
  return others.length ? `${others.reverse().join(", ")} or ${last}` : (last ?? "");
}
