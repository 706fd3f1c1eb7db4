import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Latest } from "./latest";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function asked(): {
  latest: Latest<string, string>;
  questions: string[];
  answers: string[];
  errors: string[];
  answer: (question: string) => Promise<void>;
  fail: (question: string) => Promise<void>;
} {
  const questions: string[] = [];
  const answers: string[] = [];
  const errors: string[] = [];
  const open = new Map<string, { resolve: (text: string) => void; reject: (error: Error) => void }>();
  const latest = new Latest<string, string>({
    ask: (question) => {
      questions.push(question);
      return new Promise((resolve, reject) => open.set(question, { resolve, reject }));
    },
    onAnswer: (answer) => answers.push(answer),
    onError: (error) => errors.push(String(error)),
    pause: 150,
  });
  const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(0));
  return {
    latest,
    questions,
    answers,
    errors,
    answer: async (question) => {
      open.get(question)!.resolve(`${question}!`);
      await settle();
    },
    fail: async (question) => {
      open.get(question)!.reject(new Error(question));
      await settle();
    },
  };
}

test("typing asks once, after the pause", async () => {
  const { latest, questions, answers, answer } = asked();
  for (const text of ["a", "ab", "abc"]) {
    latest.ask(text);
    await vi.advanceTimersByTimeAsync(100);
  }
  expect(questions).toEqual([]);
  await vi.advanceTimersByTimeAsync(50);
  expect(questions).toEqual(["abc"]);
  await answer("abc");
  expect(answers).toEqual(["abc!"]);
});

test("answers and errors of earlier questions are dropped, whenever they arrive", async () => {
  const { latest, answers, errors, answer, fail } = asked();
  for (const text of ["old", "wrong", "new"]) {
    latest.ask(text);
    await vi.advanceTimersByTimeAsync(150);
  }
  await answer("new");
  await answer("old");
  await fail("wrong");
  expect(answers).toEqual(["new!"]);
  expect(errors).toEqual([]);
});

test("an answer that arrives while a newer question waits is dropped", async () => {
  const { latest, answers, answer } = asked();
  latest.ask("old", true);
  await vi.advanceTimersByTimeAsync(0);
  latest.ask("new");
  await answer("old");
  expect(answers).toEqual([]);
});

test("errors of the newest question are reported", async () => {
  const { latest, errors, fail } = asked();
  latest.ask("a", true);
  await vi.advanceTimersByTimeAsync(0);
  await fail("a");
  expect(errors).toEqual(["Error: a"]);
});
