import { describe, expect, it } from "vitest";
import type { Alert, RunDetails, RunEvent } from "../../../api/types";
import { ClockAxis } from "./axis";
import { alertKey, metricAlertMarks, sharedMarks } from "./marks";

const axis = new ClockAxis([1000, 2000], [100, 200]);
const event = (kind: string, env_steps: number | null, text = "") =>
  ({ kind, env_steps, text, time: 0, rollouts: 0, detail: {} }) as RunEvent;
const details = {
  best_step: 1000, latest_step: 2000, checkpoints: { steps: [500, 1000, 2000] },
  evaluations: [{ env_steps: 1500, mean_return: 12.3456789, low: 10 }],
} as unknown as RunDetails;

describe("sharedMarks", () => {
  const events = [event("live change", 2000, "algo.lr 0.1"), event("confirmed", 2000), event("stage", null),
    event("update rolled back", 500), event("resumed", 1000), event("stage", 0)];
  const marks = sharedMarks(details, events, axis);
  it("places events, checkpoints and evaluations on the x axis, in order", () => {
    expect(marks.map((mark) => mark.x)).toEqual([...marks.map((mark) => mark.x)].sort((a, b) => a - b));
    expect(marks.find((mark) => mark.kind === "change")).toEqual(
      { x: 200, kind: "change", text: "live change: algo.lr 0.1" });
    expect(marks.filter((mark) => mark.kind === "checkpoint").map((mark) => [mark.x, mark.text])).toEqual([
      [50, "checkpoint at 500 env steps"], [100, "checkpoint at 1,000 env steps (best)"],
      [200, "checkpoint at 2,000 env steps (latest)"]]);
    expect(marks.find((mark) => mark.kind === "evaluation")?.x).toBe(150);
  });
  it("leaves out events that did not change the training, or have no position", () => {
    expect(marks.filter((mark) => ["stage", "rollback", "resume"].includes(mark.kind)).map((mark) => mark.kind)).toEqual(
      ["stage", "rollback", "resume"]);
    expect(marks).toHaveLength(8);
  });
});

it("alerts are marked in the chart of their metric", () => {
  const alert = { id: "eval:episode/return:behind", level: "warning", message: "behind", count: 1, first: 1000, last: 2000 } as Alert;
  expect(alertKey(alert)).toBe("eval:episode/return");
  expect(metricAlertMarks([alert], "eval:episode/return", axis, "score")).toEqual(
    [{ x: 100, kind: "alert", level: "warning", text: "behind (1 row)", href: "guide#score" }]);
  expect(metricAlertMarks([alert], "episode/return", axis, "score")).toEqual([]);
});
