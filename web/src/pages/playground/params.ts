/** Values in addresses: whatever an address contains, the result is valid. Pure functions. */

/** Returns a number of the address within its range; the fallback if it is missing or none. */
export function numberParam(params: URLSearchParams, name: string, fallback: number, [low, high]: readonly [number, number]): number {
  const text = params.get(name);
  return text === null ? fallback : numberIn(text, low, high, fallback);
}

/** Returns a whole number of the address within its range. */
export function countParam(params: URLSearchParams, name: string, fallback: number, range: readonly [number, number]): number {
  return Math.round(numberParam(params, name, fallback, range));
}

/** Returns one of several words. */
export function choiceParam<T extends string>(params: URLSearchParams, name: string, choices: readonly T[], fallback: T): T {
  return choices.find((choice) => choice === params.get(name)) ?? fallback;
}

/** Returns the number of a text within a range; the fallback if it is none. */
export function numberIn(text: string, low: number, high: number, fallback: number): number {
  const value = text.trim() === "" ? NaN : Number(text);
  return Number.isFinite(value) ? Math.min(Math.max(value, low), high) : fallback;
}

/** Returns the value as text for an address; empty, which leaves it out, if it is the default. */
export function unlessDefault<T extends number | string>(value: T, fallback: T): string {
  return value === fallback ? "" : String(value);
}
