import { expect, test } from "vitest";
import { SCOPES, shownSections, type Scope } from "./formFilter";
import { testField, testSection } from "./testForm";

const sections = [
  testSection(
    "algo",
    testField("algo.lr", 1, { default: 2, doc: "Step size of the optimizer." }),
    testField("algo.clip", 0.2),
    testField("algo.alpha", 1, { applies: false }),
  ),
  testSection("env", testField("env.id", "CartPole-v1"), testField("env.n_envs", 8)),
];
const keys = (search: string, scope: Scope, changed: [string, string][] = []): string[] =>
  shownSections(sections, search, scope, new Map(changed)).flatMap((section) => section.fields.map((field) => field.key));

test("each scope shows its settings", () => {
  expect(keys("", "all")).toHaveLength(4);
  expect(keys("", "applies")).toEqual(["algo.lr", "algo.clip", "env.n_envs"]);
  expect(keys("", "not default")).toEqual(["algo.lr"]);
  expect(keys("", "changed")).toEqual([]);
});

test("what the request names itself is no setting of the form", () => {
  for (const scope of SCOPES) expect(keys("", scope)).not.toContain("env.id");
});

test("a changed setting is shown in every scope", () => {
  for (const scope of SCOPES) expect(keys("", scope, [["algo.alpha", "3"]])).toContain("algo.alpha");
});

test("all words must be in the key, the description or the value", () => {
  expect(keys("OPTIMIZER lr", "all")).toEqual(["algo.lr"]);
  expect(keys("optimizer clip", "all")).toEqual([]);
  expect(keys("0.2", "all")).toEqual(["algo.clip"]);
  expect(shownSections(sections, "n_envs", "all", new Map()).map((section) => section.name)).toEqual(["env"]);
});
