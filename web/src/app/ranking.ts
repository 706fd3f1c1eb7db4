/** Which entries match a search, the best first. Pure functions. */

/** Returns how well a text matches the words of a search: larger is better, 0 if a word is missing. Letters
 * may be left out, as in `ndr` for `lander`. */
export function matchScore(search: string, text: string): number {
  const lower = text.toLowerCase();
  let total = 1;
  for (const word of search.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = wordScore(word, lower);
    if (score === 0) return 0;
    total += score;
  }
  // Of equal matches, the shorter text is the more likely one.
  return total - Math.min(text.length, 200) / 1000;
}

function wordScore(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at === 0) return 10;
  if (at > 0) return /[\s/_.:-]/.test(text[at - 1] ?? "") ? 8 : 6;
  let from = 0;
  for (const letter of word) {
    const found = text.indexOf(letter, from);
    if (found < 0) return 0;
    from = found + 1;
  }
  return 1;
}

/** Returns the entries that match, the best first; all of them, in order, for an empty search. */
export function ranked<T>(search: string, entries: readonly T[], text: (entry: T) => string, limit = 50): T[] {
  if (!search.trim()) return entries.slice(0, limit);
  return entries
    .map((entry, index) => ({ entry, index, score: matchScore(search, text(entry)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .map(({ entry }) => entry);
}
