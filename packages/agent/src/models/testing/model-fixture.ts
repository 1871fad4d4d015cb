import type { Clock } from "@flint/core/ports";
import type { Limits } from "../ai-sdk/ai-sdk-model.ts";
import { connectModel } from "../connect.ts";
import { type Message, type Model, ModelFailure, type ModelPart, type ModelRequest } from "../model.ts";
import { factsOf } from "../model-facts.ts";
import { findModel, providersOf } from "../providers.ts";
import { type Answer, FakeEndpoint, type ReceivedRequest } from "./fake-endpoint.ts";
import type { WireShape } from "./wire-formats.ts";

/** The key of every fixture. */
export const KEY = "sk-test-1234567890abcdef";

const IDS = {
  compatible: "flint/local/local-model",
  openai: "flint/openai/gpt-6.1-sol",
  anthropic: "flint/anthropic/claude-opus-5-5",
} as const;

/** A clock that the test advances. */
export type MovedClock = Clock & { advance(milliseconds: number): Promise<void> };

/** A short conversation. */
export const HELLO: readonly Message[] = [
  { role: "system", text: "Be brief." },
  { role: "user", text: "Hello" },
];

/** A model with a fake endpoint behind it. Close it when the test is over. */
export class ModelFixture {
  readonly endpoint: FakeEndpoint;
  readonly model: Model;
  readonly clock: MovedClock;

  private constructor(endpoint: FakeEndpoint, model: Model, clock: MovedClock) {
    this.endpoint = endpoint;
    this.model = model;
    this.clock = clock;
  }

  static async start(
    clock: MovedClock,
    shape: Pick<WireShape, "kind">,
    answers: readonly Answer[],
    { id = IDS[shape.kind], key = KEY, ...limits }: Partial<Limits> & { id?: string; key?: string } = {},
  ): Promise<ModelFixture> {
    const endpoint = await FakeEndpoint.start(...answers);
    const there = { baseUrl: endpoint.url, apiKey: key };
    const access = {
      openai: there,
      anthropic: there,
      ollama: { baseUrl: "http://127.0.0.1:9" },
      others: [{ name: "local", ...there }],
    };
    const found = findModel(id, providersOf(access));
    if (found === undefined) throw new Error(`There is no model ${id}.`);
    const facts = factsOf(found.provider.kind, found.name);
    return new ModelFixture(endpoint, connectModel(found, facts, { clock, limits }), clock);
  }

  close(): Promise<void> {
    return this.endpoint.close();
  }

  /** All parts of a response; retry delays take no time. */
  async all(request = requestWith(HELLO)): Promise<ModelPart[]> {
    const parts: ModelPart[] = [];
    const iterator = this.model.stream(request, new AbortController().signal)[Symbol.asyncIterator]();
    for (let next = await iterator.next(); !next.done; ) {
      parts.push(next.value);
      const following = iterator.next();
      if (next.value.type === "retry") await this.clock.advance(60_000);
      next = await following;
    }
    return parts;
  }

  /** The failure of a response. Throws if there is none, or if it contains the key. */
  async failure(request?: ModelRequest): Promise<ModelFailure["error"]> {
    const thrown: unknown = await this.all(request).then(
      () => new Error("The step did not fail."),
      (reason: unknown) => reason,
    );
    if (!(thrown instanceof ModelFailure)) throw thrown;
    if (JSON.stringify(thrown.error).includes(KEY)) throw new Error("The failure shows the key.");
    return thrown.error;
  }
}

/** A request with these messages. */
export function requestWith(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    messages,
    tools: [
      { name: "shell", description: "Runs a command.", parameters: { type: "object", properties: {} } },
    ],
    purpose: "prompt",
    review: undefined,
    outputSchema: undefined,
    temperature: 0.3,
    reasoningEffort: undefined,
    ...more,
  };
}

/** The whole text or reasoning. */
export function textIn(parts: readonly ModelPart[], type: "text-delta" | "reasoning-delta"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("");
}

/** Returns the text that was sent to the endpoint. */
export function bodyOf(request: ReceivedRequest | undefined): string {
  return JSON.stringify(request?.body);
}
