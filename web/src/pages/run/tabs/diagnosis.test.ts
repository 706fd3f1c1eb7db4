import { expect, it } from "vitest";
import type { Diagnosis } from "../../../api/types";
import { againPath, assignmentsOf, outlookOf } from "./diagnosis";

it("writes changes as overrides, also in the address of a new run", () => {
  const changes = { "algo.lr": "0.003 -> 0", "policy.hidden": [64, 64] };
  expect(assignmentsOf(changes)).toEqual(["algo.lr=0.003 -> 0", "policy.hidden=[64, 64]"]);
  const params = new URLSearchParams(againPath("a b", changes).split("?")[1]);
  expect([params.get("from"), params.getAll("set")]).toEqual(["a b", assignmentsOf(changes)]);
});
it("has words for every outcome", () => {
  for (const kind of ["solved", "learned", "unconfirmed", "failed", "unknown", "early"] as const) {
    expect(outlookOf({ outcome: { kind, text: "" } } as Diagnosis).label).not.toBe("");
  }
});
