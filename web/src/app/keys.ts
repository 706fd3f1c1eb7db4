/** Names of keys: `k`, `?`, `ctrl+k`, `g r` (one after the other), `shift+enter`. Pure functions. */

export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** Returns the name of a key press. Command counts as control; shift is named only with keys that have no
 * shifted character of their own. */
export function keyName(event: KeyPress): string {
  const key = event.key.length === 1 ? event.key : event.key.toLowerCase();
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push("ctrl");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && event.key.length > 1) parts.push("shift");
  const plain = key === " " ? "space" : key;
  return [...parts, plain.length === 1 && parts.length ? plain.toLowerCase() : plain].join("+");
}

/** Returns how many keys of a sequence have been pressed after another one: its length if it is complete. */
export function pressed(sequence: readonly string[], recent: readonly string[]): number {
  for (let n = Math.min(sequence.length, recent.length); n > 0; n--) {
    if (sequence.slice(0, n).every((key, i) => key === recent[recent.length - n + i])) return n;
  }
  return 0;
}
