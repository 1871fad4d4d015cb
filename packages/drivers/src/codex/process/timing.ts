/** How long Codex may take, in milliseconds. */
export interface CodexTiming {
  /** To start and say hello. */
  readonly start: number;
  /** To answer a request that is no turn. */
  readonly answer: number;
  /** To list its models before the list is given up. */
  readonly list: number;
  /** To stop a turn before its process is ended. */
  readonly stop: number;
  /** To stay when the last thread was closed. */
  readonly linger: number;
}

/** Generous to a slow machine, short to a person who waits. */
export const CODEX_TIMING: CodexTiming = {
  start: 20_000,
  answer: 30_000,
  list: 5_000,
  stop: 1_500,
  linger: 5_000,
};
