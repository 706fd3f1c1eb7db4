import { expect, it } from "vitest";
import type { RunDetails } from "../../../api/types";
import { checkpointRows, otherDamage } from "./checkpoints";

const details = {
  best_step: 200, latest_step: 300,
  evaluations: [{ env_steps: 200, mean_return: 12.5, low: 11 }, { env_steps: 250, mean_return: 1, low: 0 }],
  checkpoints: {
    steps: [100, 200, 300], best: { step: 200, reason: "cadence", time: 5, path: "", sha256: null },
    latest: { step: 200, reason: "cadence", time: 5, path: "", sha256: null },
    damaged: ["runs/a/checkpoints/000000000300: manifest.json is missing", "runs/a/checkpoints/000000000900: gone"],
  },
} as unknown as RunDetails;

it("lists checkpoints newest first, with their score and what is damaged", () => {
  const rows = checkpointRows(details);
  expect(rows.map((row) => row.step)).toEqual([300, 200, 100]);
  expect(rows[0]!.damage).toContain("manifest.json");
  expect(rows[1]).toMatchObject({ isBest: true, isLatest: true, reason: "cadence", evaluation: { mean: 12.5, low: 11 }, damage: "" });
  expect(rows[2]).toMatchObject({ isBest: false, isLatest: false, evaluation: undefined, time: null });
});
it("keeps damage of checkpoints that are not listed", () => {
  expect(otherDamage(details)).toEqual(["runs/a/checkpoints/000000000900: gone"]);
});
