/** Which entries match a search, the best first. Pure functions. */

/** Returns how well a label and further words match a search: larger is better, 0 if one of its words is
 * missing. In the label, letters may be left out, as in `lndr` for `lander`. */
export function matchScore(search: string, label: string, more = ""): number {
  const [name, rest] = [label.toLowerCase(), more.toLowerCase()];
  let total = 1;
  for (const word of search.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = placeScore(word, name) || placeScore(word, rest) / 2 || lettersScore(word, name);
    if (score === 0) return 0;
    total += score;
  }
  // Of equal matches, the shorter label is the more likely one.
  return total - Math.min(label.length, 200) / 1000;
}

/** Returns 10 if a text begins with a word, less if it is inside, 0 if it is missing. */
function placeScore(word: string, text: string): number {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return 10;
  return /[\s/_.:-]/.test(text[at - 1] ?? "") ? 8 : 6;
}

function lettersScore(word: string, text: string): number {
  let from = 0;
  for (const letter of word) {
    const found = text.indexOf(letter, from);
    if (found < 0) return 0;
    from = found + 1;
  }
  return 1;
}

/** Returns the entries that match, the best first; all of them, in order, for an empty search. */
export function ranked<T>(
  search: string,
  entries: readonly T[],
  label: (entry: T) => string,
  limit = 50,
  more: (entry: T) => string = () => "",
): T[] {
  if (!search.trim()) return entries.slice(0, limit);
  return entries
    .map((entry, index) => ({ entry, index, score: matchScore(search, label(entry), more(entry)) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, limit)
    .map(({ entry }) => entry);
}
