import { expect, test } from "vitest";
import { toggleWord, wordValues } from "./words";

test("a value of a field replaces the one before and other words stay", () => {
  expect(toggleWord("fast status=failed", "status", "lost")).toBe("fast status=lost");
  expect(toggleWord("status=failed  fast", "env", "Ant-v5")).toBe("status=failed fast env=Ant-v5");
});

test("the same value again removes the word", () => {
  expect(toggleWord("a env=Ant-v5 b", "env", "Ant-v5")).toBe("a b");
});

test("a run may need several tags", () => {
  expect(toggleWord("tag=a", "tag", "b", true)).toBe("tag=a tag=b");
  expect(wordValues("tag=a tag=b=c x", "tag")).toEqual(["a", "b=c"]);
});
