/** Settings as the user types them: one KEY=VALUE per line, or a value per key. */

export interface ParsedLines {
  assignments: string[];
  /** Lines that are not KEY=VALUE. */
  wrong: string[];
}

/** Reads KEY=VALUE lines; a leading `--set` and blank lines are ignored. */
export function parseLines(text: string): ParsedLines {
  const assignments: string[] = [];
  const wrong: string[] = [];
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/^--set[ =]+/, "").replace(/^(['"])(.*)\1$/, "$2");
    if (!line) continue;
    const at = line.indexOf("=");
    if (at > 0 && /^[\w.-]+$/.test(line.slice(0, at).trim())) {
      assignments.push(`${line.slice(0, at).trim()}=${line.slice(at + 1).trim()}`);
    } else wrong.push(line);
  }
  return { assignments, wrong };
}

/** Returns the settings that were given a new value, as KEY=VALUE. */
export function changedAssignments(texts: ReadonlyMap<string, string>): string[] {
  return [...texts].filter(([, text]) => text.trim() !== "").map(([key, text]) => `${key}=${text.trim()}`);
}

/** Returns the overrides of a resume: the settings, and the new total budget in env steps if one is given. */
export function resumeOverrides(lines: string, budget: string): string[] {
  const { assignments } = parseLines(lines);
  return budget.trim() ? [`stop.env_steps=${budget.trim()}`, ...assignments] : assignments;
}
