/** Every size and time limit of the protocols. Sizes are in bytes unless stated otherwise. */
export const LIMITS = {
  /** One line on a wire; a longer one is rejected and skipped. */
  line: 16 * 1024 * 1024,
  /** The text of all inputs of one turn together. */
  prompt: 1024 * 1024,
  /** The messages that one `thread/inject` adds, together. */
  injected: 20 * 1024,
  /** Output of one command that is stored and sent; the rest is only counted. */
  output: 1024 * 1024,
  /** Text of one streamed item that is stored and sent. */
  text: 8 * 1024 * 1024,
  /** Text and output of all items of one turn together. */
  turnText: 32 * 1024 * 1024,
  /** Text of each further item once a turn has reached `turnText`. */
  lateText: 16 * 1024,
  /** A `turn/completed` carries all items while their JSON stays below this. */
  turnItems: 4 * 1024 * 1024,
  /** The outgoing queue of one client; when it is full, the client is served from the log instead. */
  clientQueue: 8 * 1024 * 1024,
  /** Inputs that may wait in the queue of one thread. */
  queuedInputs: 100,
  /** Tools that clients may offer for one thread. */
  tools: 100,
  /** The description of one client tool. */
  toolDescription: 16 * 1024,
  /** The schemas of all client tools of a thread, as JSON. */
  toolSchemas: 512 * 1024,
  /** Rows on one page of any list except threads. */
  page: 200,
  /** Threads on one page. */
  threads: 10_000,
  /** Age and size at which streamed text is logged at the latest. */
  deltaMilliseconds: 100,
  deltaBytes: 64 * 1024,
  /** Clients that one listener serves at a time. When it is full, a client that has not sent `initialize` is disconnected. */
  connections: 256,
  /** Sockets of one TCP listener, including those that are not authenticated yet. */
  sockets: 1024,
  /** The head of an HTTP request. */
  httpHead: 16 * 1024,
  /** Time for a socket to become a connection: for the head of a request, or the first rendezvous line. */
  handshakeMilliseconds: 10_000,
  /** Time within which a connection must send `initialize`. */
  initializeMilliseconds: 30_000,
  /** Time without reading after which a client with pending messages is disconnected; it can reattach. */
  stalledMilliseconds: 30_000,
  /** Interval at which a WebSocket client is pinged; it has the same time to answer. */
  pingMilliseconds: 30_000,
} as const;
