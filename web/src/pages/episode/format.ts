/** Numbers, shares and texts of steps. Pure functions. */
import { fullPrecision, rounded } from "../../ui/numbers";
import type { EpisodeSettings } from "../../api/types";
import type { Cell } from "./types";

export const MISSING = "-";

/** Returns a value of the step table for display: whole numbers without decimals, others with three or with three
 * significant digits. */
export function cellText(value: Cell | undefined): string {
  if (value === undefined || value === null) return MISSING;
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return value;
  if (Number.isNaN(value)) return MISSING;
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return String(value);
  return rounded(value, 3);
}

/** Returns a value with all its digits, for hover. */
export function exactText(value: Cell | undefined): string {
  return typeof value === "number" && !Number.isNaN(value) ? fullPrecision(value) : cellText(value);
}

/** Returns a probability in percent: `0.4%`, `37%`, `<0.1%`. */
export function percentText(share: number): string {
  if (!Number.isFinite(share)) return MISSING;
  const percent = share * 100;
  if (percent > 0 && percent < 0.1) return "<0.1%";
  if (percent < 100 && percent > 99.9) return ">99.9%";
  return `${percent < 9.95 ? Number(percent.toFixed(1)) : Math.round(percent)}%`;
}

/** Returns a signed number: `+1.25`, `-0.5`. */
export function signedText(value: number): string {
  return value > 0 ? `+${cellText(value)}` : cellText(value);
}

/** Returns the share of a range below a value, 0 to 1; null if the range is not finite. */
export function rangeShare(value: number, low: number | null, high: number | null): number | null {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high) || !(high > low)) return null;
  return Number.isFinite(value) ? Math.max(0, Math.min(1, (value - low) / (high - low))) : null;
}

/** Returns the lowest and highest finite number; null without one. */
export function extent(values: ArrayLike<number>): [low: number, high: number] | null {
  let low = Infinity;
  let high = -Infinity;
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/** Returns a note as a sentence: with a capital letter and a period. */
export function sentence(note: string): string {
  const text = note.trim();
  return text && `${text[0]?.toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Returns how an episode on request was played: `sampled actions, env.kwargs.gravity=-8`. */
export function settingsText({ sampled, max_steps, role, overrides }: EpisodeSettings): string {
  const parts = [
    ...(sampled ? ["sampled actions"] : []),
    ...(max_steps === null ? [] : [`at most ${max_steps} steps`]),
    ...(role ? [`a person as ${role}`] : []),
    ...Object.entries(overrides).map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`),
  ];
  return parts.join(", ");
}
