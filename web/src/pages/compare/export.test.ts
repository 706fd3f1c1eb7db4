import { describe, expect, test } from "vitest";
import { tableCsv } from "./export";
import type { Estimate } from "./judgment";
import { COLUMNS, type SideResult } from "./results";

describe("the table as CSV", () => {
  test("has every digit, and quotes names", () => {
    const cells: Record<string, Estimate> = Object.fromEntries(COLUMNS.map(({ id }) => [id, { value: null, low: null, high: null }]));
    cells["iqm"] = { value: 0.1 + 0.2, low: -1e-7, high: 1 / 3 };
    const row = { side: { ref: "g", label: 'wide, "deep"', runs: ["a", "b"], kind: "group" }, cells } as unknown as SideResult;
    const [head, line] = tableCsv([row]).trim().split("\n");
    expect(line!.startsWith('"wide, ""deep""",a b,0.30000000000000004,-1e-7,0.3333333333333333,')).toBe(true);
    // The quoted name has one comma more.
    expect(line!.split(",").length - 1).toBe(head!.split(",").length);
    expect(head).toContain("iqm,iqm_low,iqm_high");
  });
});
