/** A matrix of values from 0 to 1, such as win rates: a table with colored cells. */
import { Tooltip } from "../ui/Tooltip";
import type { MatrixChartProps } from "./types";

export function MatrixChart({ title, note, rowTitle, columnTitle, rows, columns, cells }: MatrixChartProps) {
  return (
    <section class="chart" aria-label={title}>
      <div class="chart-head">
        <h3 class="ellipsis">
          {title}
          {note && <span class="muted small"> {note}</span>}
        </h3>
      </div>
      <div class="table-scroll" tabIndex={0} role="group" aria-label={`${title}, scrollable`}>
        <table class="matrix">
          <thead>
            <tr>
              <th scope="col" class="matrix-corner">
                {rowTitle} \ {columnTitle}
              </th>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row, i) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {columns.map((column, j) => {
                  const cell = cells[i]?.[j];
                  return (
                    <td key={column} class={cellClass(cell?.value ?? null)} style={{ "--strength": strength(cell?.value ?? null) }}>
                      <Tooltip content={cell?.detail ?? ""}>{cell?.text ?? ""}</Tooltip>
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function cellClass(value: number | null): string {
  return value === null ? "unknown" : value >= 0.5 ? "above" : "below";
}

/** Returns how far a value is from even, 0 to 1, as text for the style sheet. */
function strength(value: number | null): string {
  return value === null ? "0" : Math.min(1, Math.abs(value - 0.5) * 2).toFixed(3);
}
