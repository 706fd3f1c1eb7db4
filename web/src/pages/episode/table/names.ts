/** Which column a name in a filter means. Pure functions. */

/** Returns the column that a name means: the name itself, a part of it that only one column has (`angle` for
 * `obs/angle`), or a name without its unit (`advantage` for `advantage_learned`; raw before learned). An array lists the
 * columns if several fit, and is empty if none does. */
export function resolveColumn(name: string, columns: readonly string[]): string | string[] {
  const wanted = name.toLowerCase();
  const exact = columns.find((column) => column.toLowerCase() === wanted);
  if (exact) return exact;
  for (const suffix of ["_raw", "_learned"]) {
    const found = columns.find((column) => column.toLowerCase() === wanted + suffix);
    if (found) return found;
  }
  const ending = columns.filter((column) => column.toLowerCase().endsWith(`/${wanted}`));
  return ending.length === 1 ? (ending[0] as string) : ending;
}

/** Returns the name that is most similar; undefined if none is. */
export function similarName(name: string, names: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const other of names) {
    for (const form of new Set([other, other.replace(/_(raw|learned)$/, ""), other.slice(other.indexOf("/") + 1)])) {
      const distance = editDistance(name.toLowerCase(), form.toLowerCase());
      if (distance < least) [best, least] = [other, distance];
    }
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] as number) + 1, (next[j - 1] as number) + 1));
    }
    row = next;
  }
  return row[b.length] as number;
}
