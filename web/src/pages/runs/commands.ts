/** What the page does, as commands for a terminal. */

import { commandText } from "../../api/command";
import { split } from "./words";

/** Returns the command that lists the same runs. */
export function runsCommand(filter: string): string {
  return commandText({ command: "runs", words: split(filter) });
}

/** Returns the command that compares runs or groups, or shows a single run. */
export function selectionCommand(refs: readonly string[]): string {
  return commandText({ command: refs.length > 1 ? "compare" : "show", words: refs });
}
