/** Values and counts as text, as the command line writes them. */
import { formatCount } from "../../../ui/numbers";
import { valueText } from "../../new/valueText";

/** Returns `1 row`, `12 rows`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${formatCount(count)} ${count === 1 ? noun : plural}`;
}

/** Returns the value of a setting for display: texts without quotes, `off` for none. */
export function plainValue(value: unknown): string {
  return typeof value === "string" ? value : yamlValue(value);
}

/** Returns the value of a setting as YAML on one line, as `--set` reads it. */
export function yamlValue(value: unknown): string {
  return value === null || value === undefined ? "off" : valueText(value);
}

/** Returns the time of day, with the date unless it is today. `seconds`: since the epoch. */
export function timeText(seconds: number | null, now = new Date()): string {
  if (seconds === null) return "";
  const time = new Date(seconds * 1000);
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}:${two(time.getSeconds())}`;
  if (time.toDateString() === now.toDateString()) return clock;
  return `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())} ${clock}`;
}

/** Returns the name of a file without its directories. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
