/** Answers by question; undefined if the user did not want to answer. */
export type QuestionAnswer = Readonly<Record<string, { answers: string[] }>> | undefined;

/** A request to the client, and what its answer means. */
export interface ClientRequest<Answer> {
  readonly method: string;
  readonly params: object;
  read(answer: unknown): Answer;
}
