import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";

/** A request that the endpoint received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body, or undefined if there was none. */
  readonly body: unknown;
  /** Resolves when the client has disconnected. */
  readonly gone: Promise<unknown>;
}

/** Answers one request to the endpoint. */
export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

/** An HTTP server on a free loopback port with scripted responses, one per request. */
export class FakeEndpoint {
  readonly #server: Server;
  readonly #answers: Answer[];
  readonly #waiting: ((request: ReceivedRequest) => void)[] = [];
  readonly requests: ReceivedRequest[] = [];
  readonly url: string;

  private constructor(server: Server, answers: Answer[], url: string) {
    this.#server = server;
    this.#answers = answers;
    this.url = url;
    server.on("request", (request, response) => void this.#serve(request, response));
  }

  /** The last response is repeated. */
  static async start(...answers: Answer[]): Promise<FakeEndpoint> {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("The fake endpoint has no port.");
    return new FakeEndpoint(server, answers, `http://127.0.0.1:${address.port}`);
  }

  /** Resolves with the next request. */
  next(): Promise<ReceivedRequest> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString("utf8");
    const received: ReceivedRequest = {
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body: text === "" ? undefined : JSON.parse(text),
      gone: once(response, "close"),
    };
    this.requests.push(received);
    this.#waiting.shift()?.(received);
    const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
    answer?.(response, received);
  }
}

/** Responds with a status and a JSON body. */
export function refuse(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Responds with a complete event stream. */
export function stream(text: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text);
  };
}

/** Begins a stream and leaves it open. */
export function begin(text: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text);
  };
}

/** Begins a stream and breaks the connection once that has been sent. */
export function abort(text: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(text, () => response.socket?.destroy());
  };
}

/** Begins a stream and repeats a chunk until the client disconnects. */
export function flood(start: string, piece: string): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(start);
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on("drain", more);
    more();
  };
}

/** Never responds. */
export const NO_RESPONSE: Answer = () => {};
