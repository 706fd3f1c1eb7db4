/** What the buttons of a run do, as commands for a terminal. */
import { commandText } from "../../../api/command";
import type { Arguments, RunSummary } from "../../../api/types";
import type { Action, ActionId } from "./actions";

type CommandFacts = Pick<RunSummary, "id" | "preset" | "seed">;

/** Returns the commands of a run: `show`, then those of its buttons, the ones that apply now first. */
export function actionCommands(run: CommandFacts, actions: readonly Action[]): string[] {
  const usable = [...actions].sort((a, b) => Number(a.disabled !== "") - Number(b.disabled !== ""));
  return [commandText({ command: "show", words: [run.id] }), ...usable.map(({ id }) => actionCommand(run, id))];
}

function actionCommand(run: CommandFacts, action: ActionId): string {
  const words = [run.id];
  switch (action) {
    case "evaluate":
      return commandText({ command: "eval", words, options: { live: true } });
    case "set":
      return commandText({ command: "set", words: [run.id, "KEY=VALUE"] });
    case "resume":
      return resumeCommand({ run: run.id });
    case "again":
      return commandText({ command: "train", words: [run.preset], options: { seed: run.seed } });
    default:
      return commandText({ command: action, words });
  }
}

export function setCommand(id: string, assignments: readonly string[]): string {
  return commandText({ command: "set", words: [id, ...assignments] });
}

export function resumeCommand(args: Arguments["resume"]): string {
  const overrides = Array.isArray(args.overrides) ? args.overrides : [];
  return commandText({
    command: "resume",
    words: [args.run],
    options: {
      at: args.at,
      set: overrides,
      "fresh-optimizer": args.fresh_optimizer ?? false,
      name: args.name,
      detach: true,
    },
  });
}

/** Returns the command that trains a preset again with these changes. */
export function againCommand(run: CommandFacts, assignments: readonly string[]): string {
  return commandText({ command: "train", words: [run.preset], options: { set: assignments, seed: run.seed } });
}
