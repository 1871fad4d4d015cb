import type { ServerResponse } from "node:http";
import { tokensOf } from "@flint/agent/conversation";
import { type Model, ModelFailure, type ModelPart, tokensInCharacters } from "@flint/agent/model";
import { formatAsJson } from "../json-sample.ts";
import { CutStream, ScriptedFailure } from "../script/script-player.ts";
import { titleFor } from "./agent-text.ts";
import type { ApiRequest, ModelApi, StreamEvent } from "./api.ts";

/** Sends a JSON body and ends the response. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  });
  response.end(text);
}

/** Runs the model for one request and sends what it responds, as a stream or as a whole. */
export async function sendResponse(
  api: ModelApi,
  request: ApiRequest,
  model: Model,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const answer = api.respond(request);
  const send = (events: readonly StreamEvent[]) =>
    request.stream ? sendEvents(response, events) : undefined;
  const parts = request.isTitle ? titleParts(request) : model.stream(request.request, gone.signal);
  // Expected: any failure of the model; the client gets it in the format of its API as far as that is still possible.
  try {
    let usage: Extract<ModelPart, { type: "usage" }>["usage"] = { inputTokens: 0, outputTokens: 0 };
    let hasStarted = false;
    for await (const part of parts) {
      if (response.destroyed) return;
      if (!hasStarted) await send(answer.start());
      hasStarted = true;
      if (part.type === "usage") usage = part.usage;
      else if (part.type === "finish") await send(answer.finish(part.reason, usage));
      else await send(answer.part(part));
    }
    if (request.stream) response.end();
    else sendJson(response, 200, answer.body());
  } catch (error) {
    // What was sent before the cut still arrives, but not its end.
    if (error instanceof CutStream) response.socket?.destroySoon();
    else if (!(error instanceof ModelFailure)) throw error;
    else if (!response.headersSent) sendFailure(api, error, response);
    else {
      await send(answer.fail(error.message));
      response.end();
    }
  }
}

/** Clients retry server errors by themselves, so a failure that a user asked for is not sent as one. */
function sendFailure(api: ModelApi, failure: ModelFailure, response: ServerResponse): void {
  const status = failure.error.httpStatusCode ?? 400;
  const retryAfter = failure instanceof ScriptedFailure ? failure.retryAfter : undefined;
  const headers = retryAfter === undefined ? undefined : { "retry-after": String(retryAfter) };
  sendJson(response, status, api.errorBody(status, failure.message), headers);
}

/** Waits for a client that reads slowly. */
async function sendEvents(response: ServerResponse, events: readonly StreamEvent[]): Promise<void> {
  if (!response.headersSent)
    response.writeHead(200, {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
    });
  const text = events.map(eventText).join("");
  if (text === "" || response.write(text) || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}

function eventText({ name, data }: StreamEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`;
}

async function* titleParts({ request }: ApiRequest): AsyncIterable<ModelPart> {
  const title = titleFor(request.messages.find(({ role }) => role === "user")?.text ?? "");
  const text = request.outputSchema === undefined ? title : formatAsJson(title, request.outputSchema);
  yield { type: "text-delta", text };
  const usage = { inputTokens: tokensOf(request.messages), outputTokens: tokensInCharacters(text.length) };
  yield { type: "usage", usage };
  yield { type: "finish", reason: "stop" };
}
