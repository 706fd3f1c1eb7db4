/** Operations as commands for a terminal. Pure functions. */

export interface CommandOptions {
  /** Words of the command, such as `runs tag`. */
  command: string;
  /** Positional arguments. */
  words?: readonly (string | number)[];
  /** Options: true is a flag, a list repeats the option, null and false are left out. */
  options?: Record<string, string | number | boolean | null | undefined | readonly (string | number)[]>;
}

/** Returns a command as one types it, quoted where a shell needs it. */
export function commandText({ command, words = [], options = {} }: CommandOptions): string {
  const parts = ["gymnast", command];
  const dashed = words.some((word) => String(word).startsWith("-"));
  for (const [name, value] of Object.entries(options)) {
    if (value === null || value === undefined || value === false || value === "") continue;
    const values = Array.isArray(value) ? (value as readonly (string | number)[]) : [value as string | number | true];
    for (const item of values) parts.push(item === true ? `--${name}` : `--${name} ${quoted(String(item))}`);
  }
  if (dashed) parts.push("--");
  parts.push(...words.map((word) => quoted(String(word))));
  return parts.join(" ");
}

/** Quotes a word for a POSIX shell unless it is plain. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
