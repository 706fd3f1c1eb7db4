/** The diagnosis of a run for display. */
import type { Diagnosis, LikelyCause } from "../../../api/types";
import { yamlValue } from "../parts/text";

/** Returns the causes of a diagnosis, the likeliest first. */
export function causesOf(diagnosis: Diagnosis): LikelyCause[] {
  return diagnosis.findings;
}

/** Returns changes of settings as KEY=VALUE. */
export function assignmentsOf(changes: Record<string, unknown>): string[] {
  return Object.entries(changes).map(([key, value]) => `${key}=${yamlValue(value)}`);
}

/** Returns the path of the form of a new run with the settings of this one and these changes. */
export function againPath(id: string, changes: Record<string, unknown>): string {
  const params = new URLSearchParams({ from: id });
  for (const text of assignmentsOf(changes)) params.append("set", text);
  return `/new?${params.toString()}`;
}

export interface Outlook {
  label: string;
  level: "good" | "bad" | "warning" | "";
}

/** Returns the outcome of a run in a word or two. */
export function outlookOf(diagnosis: Diagnosis): Outlook {
  const labels: Record<string, Outlook> = {
    solved: { label: "solved", level: "good" },
    learned: { label: "learned", level: "good" },
    doubtful: { label: "doubtful", level: "warning" },
    unconfirmed: { label: "not confirmed", level: "warning" },
    failed: { label: "not good enough", level: "bad" },
    unknown: { label: "unknown", level: "" },
    early: { label: "too early to say", level: "" },
  };
  return labels[diagnosis.outcome.kind] ?? { label: diagnosis.outcome.kind, level: "" };
}
