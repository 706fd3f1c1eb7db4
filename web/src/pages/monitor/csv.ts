/** The overview as a file. */
import { read, type ReadArguments } from "../../api/client";
import { saveFile } from "../../chart/export";

/** Saves run_overview.csv, with all digits. */
export async function saveOverview(args: ReadArguments<"monitor_csv">): Promise<void> {
  const text = await read("monitor_csv", args);
  saveFile(new Blob([text], { type: "text/csv" }), "run_overview.csv");
}
