/** Asks the server while the user types: after a pause, one question at a time, and only the newest answer. */

export interface LatestOptions<Question, Answer> {
  ask: (question: Question, signal: AbortSignal) => Promise<Answer>;
  onAnswer: (answer: Answer, question: Question) => void;
  onError: (error: unknown, question: Question) => void;
  /** Milliseconds without a new question before one is asked. */
  pause: number;
}

export class Latest<Question, Answer> {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private abort: AbortController | undefined;

  constructor(private readonly options: LatestOptions<Question, Answer>) {}

  /** Asks after the pause; earlier questions are dropped, and their answers too. `now`: without the pause. */
  ask(question: Question, now = false): void {
    this.cancel();
    this.timer = setTimeout(() => void this.send(question), now ? 0 : this.options.pause);
  }

  /** Drops the question that waits or was asked. */
  cancel(): void {
    clearTimeout(this.timer);
    this.abort?.abort();
    this.abort = undefined;
  }

  private async send(question: Question): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    try {
      const answer = await this.options.ask(question, abort.signal);
      if (!abort.signal.aborted) this.options.onAnswer(answer, question);
    } catch (error) {
      if (!abort.signal.aborted) this.options.onError(error, question);
    }
  }
}
