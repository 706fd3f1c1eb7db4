/** Charts as CSV and PNG. */
import { resolved } from "./colors";
import type { LegendEntry } from "./model";

/** Returns columns as CSV: full precision, empty cells for missing values. */
export function csvText(columns: readonly { name: string; values: readonly (number | null)[] }[]): string {
  const lines = [columns.map(({ name }) => cell(name)).join(",")];
  for (let i = 0; i < (columns[0]?.values.length ?? 0); i++) {
    lines.push(columns.map(({ values }) => numberCell(values[i])).join(","));
  }
  return `${lines.join("\n")}\n`;
}

function cell(text: string): string {
  // Spreadsheets run texts that begin like formulas; a name is never one.
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function numberCell(value: number | null | undefined): string {
  return value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
}

/** Returns a picture of a plot with its title and legend. */
export async function pngOf(
  plot: HTMLCanvasElement,
  title: string,
  legend: readonly LegendEntry[],
  theme: "light" | "dark",
): Promise<Blob> {
  const ratio = window.devicePixelRatio || 1;
  const [head, line, margin] = [24 * ratio, 16 * ratio, 8 * ratio];
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("the browser has no canvas");
  const font = `${11 * ratio}px system-ui, sans-serif`;
  ctx.font = font;
  const shown = legend.slice(0, 40);
  const places = wrapped(shown.map((entry) => ctx.measureText(entry.label).width + 28 * ratio), plot.width - 2 * margin);
  const rows = (places.at(-1)?.row ?? -1) + 1;
  canvas.width = plot.width;
  canvas.height = head + plot.height + (rows ? rows * line + margin : 0);
  ctx.fillStyle = resolved("var(--bg)", theme);
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.fillStyle = resolved("var(--text)", theme);
  ctx.font = `600 ${13 * ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  ctx.fillText(title, margin, head / 2);
  ctx.drawImage(plot, 0, head);
  ctx.font = font;
  shown.forEach((entry, i) => {
    const { row, left } = places[i] ?? { row: 0, left: 0 };
    const y = head + plot.height + row * line + line / 2;
    ctx.strokeStyle = resolved(entry.color, theme);
    ctx.lineWidth = 2 * ratio;
    ctx.setLineDash((entry.dash ?? []).map((length) => length * ratio));
    ctx.beginPath();
    ctx.moveTo(margin + left, y);
    ctx.lineTo(margin + left + 14 * ratio, y);
    ctx.stroke();
    ctx.fillText(entry.label, margin + left + 18 * ratio, y);
  });
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the picture could not be made")))),
  );
}

/** Returns the row and position of boxes that are put into lines of a width. */
export function wrapped(widths: readonly number[], width: number): { row: number; left: number }[] {
  let [row, left] = [0, 0];
  return widths.map((size) => {
    if (left > 0 && left + size > width) [row, left] = [row + 1, 0];
    const place = { row, left };
    left += size;
    return place;
  });
}

/** Copies a picture, or saves it where the browser has no clipboard for pages. Returns what happened. */
export async function copyPicture(picture: Blob, name: string): Promise<"copied" | "saved"> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": picture })]);
    return "copied";
  } catch {
    saveFile(picture, `${name}.png`);
    return "saved";
  }
}

export function saveFile(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name.replace(/[^\w.-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
