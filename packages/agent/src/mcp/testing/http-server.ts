import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { McpServerConfig } from "@flint/core/ports";
import { FixtureServer } from "../fixtures/behaviour.mjs";

type StdioConfig = Extract<McpServerConfig, { type: "stdio" }>;

/** The MCP server of the tests, as a program. */
export function fixtureServer(name: string, fault?: string, env: Record<string, string> = {}): StdioConfig {
  return programOf("server.mjs", name, fault === undefined ? [] : [fault], env);
}

/** A server made with the official MCP SDK. */
export function libraryServer(name: string): StdioConfig {
  return programOf("library-server.mjs", name, [], {});
}

function programOf(
  file: string,
  name: string,
  rest: readonly string[],
  env: Record<string, string>,
): StdioConfig {
  const path = fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url));
  return { type: "stdio", name, command: process.execPath, args: [path, ...rest], env };
}

/** The ways in which a server fails tool calls. */
export type HttpFault = "refuses" | "breaksOff" | "forgets" | "floods" | "redirects" | "hangs";

const SESSION = "session-1";

/** The MCP server of the tests over HTTP on a free port, with a session and a stream for each response. */
export class HttpFixture {
  /** The fault from now on. */
  fault: HttpFault | undefined;
  /** Target of its redirects. */
  location = "http://127.0.0.2:1/elsewhere";
  /** Called for each request that is never answered. */
  arrived: () => void = () => {};
  /** Method and authorization of each request, in order. */
  readonly requests: string[] = [];
  readonly #server: Server;
  #response: ServerResponse | undefined;
  readonly #fixture = new FixtureServer((message) => this.#send(message));

  constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  /** Starts listening and returns the URL. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    // A server that listens on a port has an address of this kind.
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/mcp?key=query-secret`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.headers.authorization ?? ""}`.trim());
    if (request.method !== "POST") return void response.writeHead(request.method === "GET" ? 405 : 200).end();
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const message = JSON.parse(Buffer.concat(chunks).toString());
    if (this.#failAsAsked(message, request, response)) return;
    if (message.method === undefined || message.id === undefined) response.writeHead(202).end();
    else this.#stream(response);
    await this.#fixture.receive(message);
  }

  #failAsAsked(message: { method?: string }, request: IncomingMessage, response: ServerResponse): boolean {
    switch (this.fault) {
      case "refuses":
        response.writeHead(401).end(`who is ${request.headers.authorization}?`);
        return true;
      case "redirects":
        if (request.url?.startsWith(this.location) === true) return false;
        response.writeHead(307, { location: this.location }).end();
        return true;
      case "forgets":
        response.writeHead(404).end("session not found");
        return true;
      case "breaksOff":
        if (message.method !== "tools/call") return false;
        this.#stream(response).end(": half of it\n\n");
        return true;
      case "floods":
        if (message.method !== "tools/call") return false;
        this.#stream(response).end(`data: ${"x".repeat(17 * 1024 * 1024)}\n\n`);
        return true;
      case "hangs":
        this.arrived();
        return true;
      case undefined:
        return false;
    }
  }

  #stream(response: ServerResponse): ServerResponse {
    response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": SESSION });
    response.flushHeaders();
    this.#response = response;
    return response;
  }

  #send(message: unknown): void {
    this.#response?.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    const isAnswer = typeof message === "object" && message !== null && !("method" in message);
    if (isAnswer) this.#response?.end();
  }
}
