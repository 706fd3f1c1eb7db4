/** The state of a run in words, with the next command to type. */

export interface RunState {
  /** One sentence; empty if the status alone says it. */
  text: string;
  level: "ok" | "info" | "warning" | "error";
  /** Commands that may help, best first. */
  commands: string[];
}

export interface StateFacts {
  id: string;
  status: string;
  reason: string;
  problem: string;
  path: string;
  latestStep: number | null;
}

/** Explains the status of a run: why it stopped, what is wrong, and what to do. */
export function explainStatus(run: StateFacts): RunState {
  const { id, reason } = run;
  const resume = `gymnast resume ${id}`;
  switch (run.status) {
    case "queued":
      return { text: `Waits in the queue${reason ? `: ${reason}` : ""}.`, level: "info", commands: ["gymnast jobs", `gymnast stop ${id}`] };
    case "starting":
      return { text: "Its process is starting.", level: "info", commands: [`gymnast logs -f ${id}`] };
    case "running":
      return { text: "", level: "ok", commands: [] };
    case "paused":
      return { text: "Paused: its process stays in memory and waits.", level: "info", commands: [`gymnast unpause ${id}`] };
    case "stalled":
      return {
        text: "Stalled: the environment or the process has not answered for a long time.",
        level: "warning",
        commands: [`gymnast logs -f ${id}`, `gymnast stop ${id}`],
      };
    case "finished":
      return { text: endText("Finished", reason), level: "ok", commands: [] };
    case "stopped":
      return { text: endText("Stopped", reason), level: "info", commands: [resume] };
    case "failed":
      return {
        text: endText("Failed", reason),
        level: "error",
        commands: run.latestStep === null ? [`gymnast logs ${id}`] : [`gymnast logs ${id}`, resume],
      };
    case "lost":
      return {
        text: "Lost: its process ended without recording why (killed, out of memory, or the machine restarted).",
        level: "error",
        commands: [resume, `gymnast logs ${id}`],
      };
    case "unreadable":
      return {
        text: `It cannot be read: ${ended(run.problem || "run.json is damaged")}`,
        level: "error",
        commands: [`ls -la ${run.path}`, `gymnast runs rm ${id}`],
      };
    default:
      return { text: reason, level: "info", commands: [] };
  }
}

/** Returns how a run ended and why; a reason that starts with the same word is a sentence by itself. */
function endText(how: string, reason: string): string {
  if (!reason) return `${how}.`;
  if (!reason.toLowerCase().startsWith(how.toLowerCase())) return `${how}: ${ended(reason)}`;
  return ended(how + reason.slice(how.length));
}

function ended(sentence: string): string {
  return /[.!?]$/.test(sentence.trim()) ? sentence.trim() : `${sentence.trim()}.`;
}
