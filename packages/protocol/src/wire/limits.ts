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
  /** Tools that clients may offer for one thread. */
  tools: 100,
  /** What one of them says about itself. */
  toolDescription: 16 * 1024,
  /** All of them together, as JSON. */
  toolSchemas: 512 * 1024,
  /** Rows of one page of any list but that of threads. */
  page: 200,
  /** Threads of one page. */
  threads: 10_000,
  /** Streamed text may be this old, or this large, before it is in the log. */
  deltaMilliseconds: 100,
  deltaBytes: 64 * 1024,
  /** Clients that one listener serves at a time. When it is full, one that never said `initialize` gives way. */
  connections: 256,
  /** Sockets of one TCP listener, those included that have not shown yet that they may connect. */
  sockets: 1024,
  /** The head of an HTTP request. */
  httpHead: 16 * 1024,
  /** How long a socket may take to become a connection: the head of a request, or the first line at the meeting socket. */
  handshakeMilliseconds: 10_000,
  /** How long a connection may take to say `initialize`. */
  greetingMilliseconds: 30_000,
  /** How long a client may take nothing of what waits for it before it is cut off; it can attach again. */
  stalledMilliseconds: 30_000,
  /** How often a WebSocket client is asked whether it is still there; it has as long to answer. */
  pingMilliseconds: 30_000,
} as const;
