/** Words of a filter. Pure functions. */

export interface Token {
  kind: "name" | "number" | "text" | "operator" | "open" | "close";
  text: string;
  /** Position of its first character, and one after its last. */
  start: number;
  end: number;
}

export class FilterError extends Error {
  constructor(
    message: string,
    /** Position in the filter. */
    readonly at: number,
    readonly fix = "",
  ) {
    super(message);
  }
}

export const OPERATORS = ["<=", ">=", "!=", "<", ">", "=", "~"] as const;
const PATTERN = /\s*(?:([<>!]=|==|[<>=~])|(\()|(\))|"([^"]*)"|(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?(?![\w/]))|([\p{L}\p{N}_./:-]+))/iuy;

/** Returns the words of a filter; throws FilterError where there is none. */
export function tokens(filter: string): Token[] {
  const found: Token[] = [];
  PATTERN.lastIndex = 0;
  while (PATTERN.lastIndex < filter.length) {
    const from = PATTERN.lastIndex;
    const match = PATTERN.exec(filter);
    if (!match) {
      const rest = filter.slice(from);
      if (!rest.trim()) break;
      const at = from + rest.search(/\S/);
      if (filter[at] === '"') throw new FilterError("the closing quote is missing", at, 'Write texts as "left engine".');
      throw new FilterError(`"${filter[at]}" has no meaning here`, at, "Write comparisons such as advantage < -1.");
    }
    const end = PATTERN.lastIndex;
    const [whole, operator, open, close, quoted, number] = match;
    const start = end - whole.trimStart().length;
    const text = quoted ?? whole.trim();
    const kind = operator ? "operator" : open ? "open" : close ? "close" : quoted !== undefined ? "text" : number ? "number" : "name";
    found.push({ kind, text: text === "==" ? "=" : text, start, end });
  }
  return found;
}
