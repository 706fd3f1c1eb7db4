/** The cross-play matrix on the page: labels of players, texts and colors of cells. */
import type { CrossPlayCell, CrossPlayReport } from "../../api/types";
import { formatCount, formatShort } from "../../ui/numbers";

/** Returns a short name: `step:1200000` -> `1.2M`, `scripted:weak` -> `weak`. */
export function playerLabel(name: string): string {
  if (isPolicy(name)) return formatShort(Number(name.replace(/^step:/, "")));
  return name.replace(/^scripted:/, "");
}

/** Returns the name in a table: `901,120 env steps`, `scripted weak`. */
export function playerName(name: string): string {
  return isPolicy(name) ? `${formatCount(Number(name.replace(/^step:/, "")))} env steps` : name.replace(/^scripted:/, "scripted ");
}

/** Returns the name in words: `policy at 1,200,000 env steps`, `scripted opponent weak`. */
export function playerText(name: string): string {
  if (isPolicy(name)) return `policy at ${formatCount(Number(name.replace(/^step:/, "")))} env steps`;
  return name.startsWith("scripted:") ? `scripted opponent ${name.slice("scripted:".length)}` : name;
}

/** Returns whether a player is a policy of the run, named by its env steps. */
export function isPolicy(name: string): boolean {
  return /^(step:)?\d+$/.test(name);
}

/** Returns a win rate in percent; a dash without known outcomes. */
export function cellLabel(cell: CrossPlayCell): string {
  return cell.rate === null ? "–" : String(Math.round(cell.rate * 100));
}

/** Returns everything about a cell in words, with all digits of the record. */
export function cellText(report: CrossPlayReport, row: number, column: number): string {
  const cell = report.cells[row]?.[column];
  if (!cell) return "";
  const pair = `${report.row_role} ${playerText(report.rows[row]!)} against ${report.column_role} ${playerText(report.columns[column]!)}`;
  const unknown = cell.unknown > 0 ? `, and ${cell.unknown} with an unknown outcome` : "";
  if (cell.rate === null) return `${pair}: no match with a known outcome${unknown}`;
  return `${pair}: win rate of ${report.row_role} ${cell.rate} [${cell.low}, ${cell.high}], ${cell.matches} matches${unknown}`;
}

/** Returns the number of matches in the matrix, by whether their outcome is known. */
export function matchTotals(report: CrossPlayReport): { known: number; unknown: number } {
  const cells = report.cells.flat();
  return {
    known: cells.reduce((sum, cell) => sum + cell.matches, 0),
    unknown: cells.reduce((sum, cell) => sum + cell.unknown, 0),
  };
}
