/** The table of a comparison as CSV, with all digits. */
import { COLUMNS, type SideResult } from "./results";

export function tableCsv(rows: readonly SideResult[]): string {
  const head = ["side", "runs"];
  for (const { id } of COLUMNS) head.push(id, ...(id !== "n" ? [`${id}_low`, `${id}_high`] : []));
  const lines = rows.map((row) => {
    const cells = [row.side.label, row.side.runs.join(" ")];
    for (const { id } of COLUMNS) {
      const { value, low, high } = row.cells[id];
      cells.push(text(value), ...(id !== "n" ? [text(low), text(high)] : []));
    }
    return cells;
  });
  return csv([head, ...lines]);
}

export function csv(lines: readonly (readonly string[])[]): string {
  return lines.map((cells) => cells.map(quoted).join(",")).join("\n") + "\n";
}

function text(value: number | null): string {
  return value === null ? "" : String(value);
}

function quoted(cell: string): string {
  return /[",\n\r]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell;
}
