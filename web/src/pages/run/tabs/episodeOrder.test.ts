import { describe, expect, it } from "vitest";
import { listed, orderOf, ORDERS, returnOf } from "./episodeOrder";

const episode = (version: number, number: number, raw_return: number | null, surprise: number | null) => ({
  version,
  number,
  raw_return,
  surprise,
  returns: {},
});
const EPISODES = [episode(100, 0, 5, 0.1), episode(100, 1, 9, null), episode(200, 0, -3, 4), episode(200, 1, 9, 2)];
const names = (rows: typeof EPISODES) => rows.map((row) => `${row.version}/${row.number}`);

describe("orders of episodes", () => {
  it("shows the latest policy first, its episodes in order", () => {
    expect(names(orderOf(null).sorted(EPISODES))).toEqual(["200/0", "200/1", "100/0", "100/1"]);
  });
  it("sorts by return in both directions", () => {
    expect(names(orderOf("best").sorted(EPISODES))).toEqual(["100/1", "200/1", "100/0", "200/0"]);
    expect(names(orderOf("worst").sorted(EPISODES))).toEqual(["200/0", "100/0", "100/1", "200/1"]);
  });
  it("puts episodes without a critic last", () => {
    expect(names(orderOf("surprising").sorted(EPISODES))).toEqual(["200/0", "200/1", "100/0", "100/1"]);
  });
  it("keeps every episode, whatever the order", () => {
    for (const order of ORDERS) expect(order.sorted(EPISODES)).toHaveLength(EPISODES.length);
  });
  it("a click on a column overrides the order", () => {
    const rows = listed(EPISODES, orderOf("best"), { key: "number", descending: true }, (row) => row.number);
    expect(names(rows)).toEqual(["100/1", "200/1", "100/0", "200/0"]);
  });
  it("takes the return of the first role of a match", () => {
    expect(returnOf({ version: 1, number: 0, raw_return: null, surprise: null, returns: { seeker: 2, hider: -2 } })).toBe(2);
  });
});
