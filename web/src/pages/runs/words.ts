/** Words of a filter, as the filter panel adds and removes them. The server decides what they match. */

/** Returns the values of the words FIELD=VALUE. */
export function wordValues(filter: string, field: string): string[] {
  return split(filter)
    .filter((word) => word.startsWith(`${field}=`))
    .map((word) => word.slice(field.length + 1));
}

/**
 * Returns the filter with FIELD=VALUE added, or removed if it has it. A run has one value of most fields, so
 * that a new value replaces the old one; of fields with `several` values (tags) all must match.
 */
export function toggleWord(filter: string, field: string, value: string, several = false): string {
  const word = `${field}=${value}`;
  const words = split(filter);
  if (words.includes(word)) return words.filter((other) => other !== word).join(" ");
  const kept = several ? words : words.filter((other) => !other.startsWith(`${field}=`));
  return [...kept, word].join(" ");
}

export function split(filter: string): string[] {
  return filter.split(/\s+/).filter((word) => word !== "");
}
