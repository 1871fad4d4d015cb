/** Every size and time bound that a peer can meet, in one place. Sizes are bytes unless the name says otherwise. */
export const LIMITS = {
  /** One line on a wire; a longer one is refused and skipped. */
  line: 16 * 1024 * 1024,
  /** The text of all inputs of one turn together. */
  prompt: 1024 * 1024,
  /** Output of one command that is kept and told; the rest is counted. */
  output: 1024 * 1024,
  /** Text of one streamed item that is kept and told. */
  text: 8 * 1024 * 1024,
  /** A `turn/completed` carries all items while their JSON stays below this. */
  turnItems: 4 * 1024 * 1024,
  /** What may wait in the outgoing queue of one client before it follows the log instead. */
  clientQueue: 8 * 1024 * 1024,
  /** Inputs that may wait in the queue of one thread. */
  queuedInputs: 100,
  /** Rows of one page of any list but that of threads. */
  page: 200,
  /** Threads of one page. */
  threads: 10_000,
  /** Streamed text may be this old, or this large, before it is in the log. */
  deltaMilliseconds: 100,
  deltaBytes: 64 * 1024,
} as const;
