/** Downloads the step table as CSV. */
import { read } from "../../api/client";
import { agentArguments, episodeText } from "./address";
import type { EpisodeAddress } from "./types";

/** Saves the CSV that the server makes of the episode: the same columns as next to checkpoints. */
export async function downloadCsv(address: EpisodeAddress): Promise<void> {
  const text = await read("steps_csv", agentArguments(address));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  link.download = `${address.run}-${episodeText(address)}.csv`;
  link.click();
  URL.revokeObjectURL(link.href);
}
