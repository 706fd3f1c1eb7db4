import { expect, test } from "vitest";
import { sameValue, valueText } from "./valueText";

test("numbers, switches, lists and mappings are written as YAML", () => {
  expect(valueText(0.0003)).toBe("0.0003");
  expect(valueText(1e-7)).toBe("1e-7");
  expect(valueText(0)).toBe("0");
  expect(valueText(false)).toBe("false");
  expect(valueText([64, 64])).toBe("[64, 64]");
  expect(valueText([])).toBe("[]");
  expect(valueText({ gravity: -9.5, names: ["a", "b,c"] })).toBe('{gravity: -9.5, names: [a, "b,c"]}');
  expect(valueText(null)).toBe("");
});

test("texts have quotes only if YAML would read something else", () => {
  for (const text of ["off", "3e-3 -> 0", "50k", "1 rollouts", "py:module:Class", "-x", "a, b", "linear"])
    expect(valueText(text)).toBe(text);
  for (const text of ["1e5", "42", "true", "null", "~", "", "[a]", "{a", "a: b", "a #b", " a", "'a'", "*x", ".inf"])
    expect(valueText(text)).toBe(JSON.stringify(text));
});

test("values are the same whatever the order of their keys", () => {
  expect(sameValue({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 })).toBe(true);
  expect(sameValue([1, 2], [2, 1])).toBe(false);
  expect(sameValue("1", 1)).toBe(false);
  expect(sameValue(0, false)).toBe(false);
  expect(sameValue(null, "off")).toBe(false);
});
