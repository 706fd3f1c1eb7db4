import { expect, test } from "vitest";
import type { SettingsForm } from "../../api/types";
import { EMPTY_DRAFT } from "./draft";
import { requestProblems } from "./problems";
import { testField, testSection } from "./testForm";

test("problems of the request come before those of settings, and settings can be focused", () => {
  const form: Pick<SettingsForm, "sections" | "problems"> = {
    sections: [testSection("algo", testField("algo.lr", 1))],
    problems: [
      { at: "--set", key: "algo.lr", text: "is wrong", message: "algo.lr is wrong" },
      { at: "--set", key: "algo.lrr", text: "unknown", message: "unknown key algo.lrr" },
    ],
  };
  const problems = requestProblems({ ...EMPTY_DRAFT, seed: "x" }, form as SettingsForm);
  expect(problems.map((problem) => [problem.at, problem.isSetting])).toEqual([
    ["target", false],
    ["seed", false],
    ["algo.lr", true],
    ["algo.lrr", false],
  ]);
});
