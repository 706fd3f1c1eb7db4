/** What the page does, as commands for a terminal. */

import { commandText } from "../../api/command";
import { split } from "./words";

/** Returns the command that lists the same runs. */
export function runsCommand(filter: string): string {
  return commandText({ command: "runs", words: split(filter) });
}

export function compareCommand(refs: readonly string[]): string {
  return commandText({ command: "compare", words: refs });
}
