/** The data of a chart as a table, for screen readers and for reading exact values. */
import { useMemo } from "preact/hooks";
import { Dialog } from "../ui/Dialog";
import { fullPrecision } from "../ui/numbers";
import { Table, type Column } from "../ui/Table";
import type { PlotModel } from "./model";

export function DataTable({ title, model, onClose }: { title: string; model: PlotModel; onClose: () => void }) {
  const { columns, rows } = useMemo(() => {
    const data = model.columns();
    const heads: Column<number>[] = data.map(({ name, values }, i) => ({
      key: String(i),
      label: name,
      align: "right",
      cell: (row) => {
        const value = values[row];
        return value === null || value === undefined || Number.isNaN(value) ? "" : fullPrecision(value);
      },
    }));
    return { columns: heads, rows: Array.from({ length: data[0]?.values.length ?? 0 }, (_, i) => i) };
  }, [model]);
  return (
    <Dialog title={title} onClose={onClose} className="wide">
      <Table label={title} columns={columns} rows={rows} rowKey={String} />
    </Dialog>
  );
}
