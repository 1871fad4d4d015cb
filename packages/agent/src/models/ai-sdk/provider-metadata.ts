import { isRecord } from "@flint/protocol";
import type { Message, ProviderMetadata } from "../model.ts";
import { cleanText } from "./clean-text.ts";
import type { AssistantPart, ProviderOptions, StreamPart } from "./language-model.ts";

type CallPart = Extract<AssistantPart, { type: "tool-call" }>;
type Metadata = NonNullable<Extract<StreamPart, { type: "text-start" }>["providerMetadata"]>;

/** One piece of an answer as it was given, with what the provider put its seal on. */
interface KeptPart {
  readonly type: "text" | "reasoning" | "call";
  /** The call's id, or the text. */
  text: string;
  metadata: Metadata | undefined;
}

/** Collects an answer in the order it came in, for providers that want to see it again unchanged. */
export class MetadataRecorder {
  readonly #parts: KeptPart[] = [];
  readonly #open = new Map<string, KeptPart>();

  begin(type: "text" | "reasoning", id: string, metadata: Metadata | undefined): void {
    const part: KeptPart = { type, text: "", metadata };
    this.#parts.push(part);
    this.#open.set(`${type} ${id}`, part);
  }

  extend(type: "text" | "reasoning", id: string, text: string, metadata: Metadata | undefined): void {
    const part = this.#open.get(`${type} ${id}`);
    if (part === undefined) return;
    part.text += text;
    part.metadata = merged(part.metadata, metadata);
  }

  call(callId: string, metadata: Metadata | undefined): void {
    this.#parts.push({ type: "call", text: callId, metadata });
  }

  /** Nothing if the provider sealed nothing: then the plain message says it all. */
  result(model: string): ProviderMetadata | undefined {
    const isSealed = this.#parts.some(({ metadata }) => metadata !== undefined);
    return isSealed ? { model, content: this.#parts } : undefined;
  }
}

/** What an assistant said, as the same model gave it; undefined if there is nothing of that kind. */
export function recordedContent(
  { providerMetadata, calls: made }: Extract<Message, { role: "assistant" }>,
  model: string,
  idOf: (callId: string) => string,
  calls: readonly CallPart[],
): AssistantPart[] | undefined {
  if (providerMetadata === undefined || providerMetadata.model !== model) return undefined;
  const kept = keptParts(providerMetadata.content);
  const known = new Set(made.map(({ callId }) => callId));
  const told = kept.flatMap((part) => {
    if (part.type !== "call") return sealedText(part);
    const call = known.delete(part.text)
      ? calls.find((each) => each.toolCallId === idOf(part.text))
      : undefined;
    return call === undefined ? [] : [{ ...call, ...options(part.metadata) }];
  });
  const left = new Set([...known].map(idOf));
  return [...told, ...calls.filter(({ toolCallId }) => left.has(toolCallId))];
}

/** Thinking without a seal is not shown again: no provider wants it. */
function sealedText({ type, text, metadata }: KeptPart): AssistantPart[] {
  if (type === "reasoning")
    return metadata === undefined ? [] : [{ type: "reasoning", text: cleanText(text), ...options(metadata) }];
  return text === "" ? [] : [{ type: "text", text: cleanText(text), ...options(metadata) }];
}

function options(metadata: Metadata | undefined): { providerOptions?: ProviderOptions } {
  if (metadata === undefined) return {};
  const signature = Object.values(metadata).find((fields) => fields.thoughtSignature !== undefined);
  // Gemini behind an OpenAI-compatible address gives its seal under the provider's name and wants it back under google.
  const google =
    signature === undefined ? {} : { google: { thoughtSignature: signature.thoughtSignature ?? null } };
  return { providerOptions: { ...metadata, ...google } };
}

function merged(first: Metadata | undefined, second: Metadata | undefined): Metadata | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] }]));
}

function keptParts(content: unknown): readonly KeptPart[] {
  return Array.isArray(content) ? content.filter(isKeptPart) : [];
}

function isKeptPart(value: unknown): value is KeptPart {
  return isRecord(value) && typeof value.text === "string" && typeof value.type === "string";
}
