import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { isRecord } from "@flint/protocol";

const LOOPBACK = "127.0.0.1";

/** A part of the model's answer: a text, or a call of Gemini's shell tool. */
type Part =
  | { readonly text: string }
  | { readonly functionCall: { readonly name: string; readonly args: object } };

/**
 * The part of Google's API that the Gemini command line needs for a turn. It runs the command in backquotes that it was
 * asked to run, and reports when it has run.
 */
export class GeminiModelServer {
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** Listens when this resolves. The caller closes it. */
  static async start(): Promise<GeminiModelServer> {
    const model = new GeminiModelServer();
    await new Promise<void>((resolve) => model.#server.listen(0, LOOPBACK, resolve));
    return model;
  }

  /** Its address, as GOOGLE_GEMINI_BASE_URL has it. */
  get url(): string {
    const address = this.#server.address();
    return `http://${LOOPBACK}:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A caller that goes away in the middle of its question gets no answer.
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const answer = JSON.stringify({
      candidates: [{ content: { role: "model", parts: [nextPart(body)] }, finishReason: "STOP", index: 0 }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
    });
    if (request.url?.includes("streamGenerateContent") === true) {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(`data: ${answer}\r\n\r\n`);
    } else if (request.url?.includes("generateContent") === true) {
      response.writeHead(200, { "content-type": "application/json" }).end(answer);
    } else {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ totalTokens: 1 }));
    }
  }
}

/** The command of the last prompt, unless the last content is its result. */
function nextPart(body: string): Part {
  const request: unknown = JSON.parse(body || "{}");
  const contents = isRecord(request) && Array.isArray(request.contents) ? request.contents : [];
  const last = JSON.stringify(contents.at(-1) ?? "");
  const [, command] = /run `([^`]+)`/.exec(last) ?? [];
  if (command === undefined || last.includes("functionResponse")) return { text: "Done." };
  return { functionCall: { name: "run_shell_command", args: { command, description: "as asked" } } };
}
