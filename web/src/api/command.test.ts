import { expect, test } from "vitest";
import { commandText, quoted } from "./command";

test("options come first, lists repeat them, empty ones are left out", () => {
  const text = commandText({
    command: "train",
    words: ["CartPole-v1"],
    options: { set: ["algo.lr=3e-3 -> 0", "env.copies=8"], seed: 0, detach: true, name: "", algo: null, quiet: false },
  });
  expect(text).toBe("gymnast train --set 'algo.lr=3e-3 -> 0' --set env.copies=8 --seed 0 --detach CartPole-v1");
});

test("a word that begins with a dash is not taken for an option", () => {
  expect(commandText({ command: "runs note", words: ["k3jx", "-5 % slower"] })).toBe("gymnast runs note -- k3jx '-5 % slower'");
});

/** Returns the words that a POSIX shell reads; raises for characters that it would treat specially. */
function shellWords(text: string): string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i] ?? "";
    if (letter === "'") {
      const end = text.indexOf("'", i + 1);
      if (end < 0) throw new Error("a quote is not closed");
      word = (word ?? "") + text.slice(i + 1, end);
      i = end;
    } else if (letter === "\\") word = (word ?? "") + (text[++i] ?? "");
    else if (letter === " ") {
      if (word !== null) words.push(word);
      word = null;
    } else if (/[$`"|&;<>()*?[\]#~!{}\n]/.test(letter)) throw new Error(`${letter} is not quoted`);
    else word = (word ?? "") + letter;
  }
  return word === null ? words : [...words, word];
}

test("a shell reads quoted words as they are", () => {
  const words = ["plain", "two words", "it's", `"double"`, "$HOME `id` \\ !", "a\nb", "*?[x]", "", "~", "ünïcode", "#x", "a;b&c|d>e", "''"];
  expect(shellWords(words.map(quoted).join(" "))).toEqual(words);
});
