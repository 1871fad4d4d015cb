import type { ServerResponse } from "node:http";
import { tokensOf } from "@flint/agent/conversation";
import {
  type FinishReason,
  type Model,
  ModelFailure,
  type ModelPart,
  tokensInCharacters,
} from "@flint/agent/model";
import { NO_USAGE, type TokenUsage } from "@flint/protocol";
import { answerAsJson } from "../intents/json-answer.ts";
import { CutStream, ScriptedFailure } from "../script/script-player.ts";
import { titleFor } from "./callers-text.ts";
import { failureHeaders, sendJson } from "./http-answer.ts";
import type { Answer, ModelCall, Shape, StreamEvent } from "./shape.ts";

/** Has the model do one call and sends what it says, as a stream or as a whole. */
export async function answerCall(
  call: ModelCall,
  shape: Shape,
  model: Model,
  response: ServerResponse,
): Promise<void> {
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const parts = call.isTitle ? titleParts(call) : model.stream(call.request, gone.signal);
  const answering = new Answering(shape.answer(call), call.streaming, response);
  // Expected: whatever the model fails with; the caller is told in its own shape, as far as that is still possible.
  try {
    for await (const part of parts) {
      if (response.destroyed) return;
      await answering.take(part);
    }
    await answering.finish();
  } catch (error) {
    // What was said before the cut still arrives, but not the end of it.
    if (error instanceof CutStream) response.socket?.destroySoon();
    else if (error instanceof ModelFailure) await refuse(error, answering, shape, response);
    else throw error;
  }
}

/** A failure is an answer of its own before anything was sent, and an event of the stream after that. */
async function refuse(error: ModelFailure, answering: Answering, shape: Shape, response: ServerResponse) {
  if (response.headersSent) return answering.fail(error.message);
  // Callers try again by themselves after a failure of the server, so one that was asked for is not told as such.
  const status = error.error.httpStatusCode ?? 400;
  const retryAfter = error instanceof ScriptedFailure ? error.retryAfter : undefined;
  sendJson(response, status, shape.failure(status, error.message), failureHeaders(retryAfter));
}

class Answering {
  readonly #answer: Answer;
  readonly #streaming: boolean;
  readonly #response: ServerResponse;
  #hasBegun = false;
  #usage: TokenUsage = NO_USAGE;
  #reason: FinishReason = "stop";

  constructor(answer: Answer, streaming: boolean, response: ServerResponse) {
    this.#answer = answer;
    this.#streaming = streaming;
    this.#response = response;
  }

  async take(part: ModelPart): Promise<void> {
    if (part.type === "usage") this.#usage = part.usage;
    else if (part.type === "finish") this.#reason = part.reason;
    else {
      await this.#begin();
      await this.#send(this.#answer.part(part));
    }
  }

  async finish(): Promise<void> {
    await this.#begin();
    await this.#send(this.#answer.end(this.#reason, this.#usage));
    if (this.#streaming) this.#response.end();
    else sendJson(this.#response, 200, this.#answer.whole());
  }

  async fail(message: string): Promise<void> {
    await this.#send(this.#answer.fail(message));
    this.#response.end();
  }

  async #begin(): Promise<void> {
    if (this.#hasBegun) return;
    this.#hasBegun = true;
    const headers = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };
    if (this.#streaming) this.#response.writeHead(200, headers);
    await this.#send(this.#answer.begin());
  }

  /** A caller that reads slowly is waited for. */
  async #send(events: readonly StreamEvent[]): Promise<void> {
    if (!this.#streaming || events.length === 0) return;
    const isTaken = this.#response.write(events.map(eventText).join(""));
    if (isTaken || this.#response.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.off("drain", done);
        this.#response.off("close", done);
        resolve();
      };
      this.#response.once("drain", done);
      this.#response.once("close", done);
    });
  }
}

function eventText({ name, data }: StreamEvent): string {
  const text = typeof data === "string" ? data : JSON.stringify(data);
  return name === undefined ? `data: ${text}\n\n` : `event: ${name}\ndata: ${text}\n\n`;
}

async function* titleParts({ request }: ModelCall): AsyncIterable<ModelPart> {
  const title = titleFor(request.messages.find(({ role }) => role === "user")?.text ?? "");
  const text = request.outputSchema === undefined ? title : answerAsJson(title, request.outputSchema);
  yield { type: "text-delta", text };
  const usage = { inputTokens: tokensOf(request.messages), outputTokens: tokensInCharacters(text.length) };
  yield { type: "usage", usage };
  yield { type: "finish", reason: "stop" };
}
