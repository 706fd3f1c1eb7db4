import { expect, test } from "vitest";
import { keyName, pressed } from "./keys";
import { ranked } from "./ranking";

const press = (key: string, modifiers: Partial<Record<"ctrlKey" | "metaKey" | "altKey" | "shiftKey", boolean>> = {}) =>
  keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...modifiers });

test("names of keys", () => {
  expect(press("k")).toBe("k");
  expect(press("K", { ctrlKey: true, shiftKey: true })).toBe("ctrl+k");
  expect(press("k", { metaKey: true })).toBe("ctrl+k");
  expect(press("?", { shiftKey: true })).toBe("?");
  expect(press("Enter", { shiftKey: true })).toBe("shift+enter");
  expect(press(" ")).toBe("space");
});

test("sequences need all their keys, in order", () => {
  expect(pressed(["g", "r"], ["g"])).toBe(1);
  expect(pressed(["g", "r"], ["x", "g", "r"])).toBe(2);
  expect(pressed(["g", "r"], ["r", "g"])).toBe(1);
  expect(pressed(["j"], ["k"])).toBe(0);
});

test("the palette finds words anywhere in the label, the beginning first, and letters in order", () => {
  const labels = ["policy/entropy", "lander-3", "highlander", "Compare", "my lander"];
  const find = (search: string) => ranked(search, labels, (label) => label);
  expect(find("lander")).toEqual(["lander-3", "my lander", "highlander"]);
  expect(find("lndr")).toEqual(["lander-3", "my lander", "highlander"]);
  expect(find("entropy pol")).toEqual(["policy/entropy"]);
  expect(find("")).toEqual(labels);
  expect(find("zzz")).toEqual([]);
});

test("other words are found only as they are", () => {
  const entries = [
    { label: "rollout/reward_mean", more: "Mean raw reward of steps." },
    { label: "k3jx", more: "lander LunarLander-v3" },
  ];
  const find = (search: string) => ranked(search, entries, (entry) => entry.label, 10, (entry) => entry.more).map(({ label }) => label);
  expect(find("lander")).toEqual(["k3jx"]);
  expect(find("reward raw")).toEqual(["rollout/reward_mean"]);
  expect(find("mrs")).toEqual([]);
});
