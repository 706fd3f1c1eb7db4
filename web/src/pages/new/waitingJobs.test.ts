import { expect, test } from "vitest";
import type { JobStatus } from "../../api/types";
import { waitingJobs } from "./waitingJobs";

const job = (id: string, status: string, created: number): JobStatus => ({
  id,
  status,
  reason: "",
  path: "",
  target: "CartPole-v1",
  name: "",
  seed: 0,
  group: null,
  created,
  pid: null,
  exit_code: null,
  words: "",
  on: "",
});

test("waiting jobs are in the order in which they will train: those that start, then the queue by arrival", () => {
  const jobs = [
    job("late", "queued", 9),
    job("ended", "finished", 8),
    job("early", "queued", 3),
    job("trains", "running", 2),
    job("starts", "starting", 5),
  ];
  expect(waitingJobs(jobs).map((one) => one.id)).toEqual(["starts", "early", "late"]);
});
