import { isRecord } from "@flint/protocol";
import type { Message, ProviderMetadata } from "../model.ts";
import { cleanText } from "./clean-text.ts";
import type { AssistantPart, ProviderOptions, StreamPart } from "./language-model.ts";

type CallPart = Extract<AssistantPart, { type: "tool-call" }>;
type Metadata = NonNullable<Extract<StreamPart, { type: "text-start" }>["providerMetadata"]>;

/** One part of a response as it was sent, with the provider's metadata such as signatures. */
interface RecordedPart {
  readonly type: "text" | "reasoning" | "call";
  /** The id of the call, or the text. */
  text: string;
  metadata: Metadata | undefined;
}

/** Records a response in order, for providers that expect it back unchanged. */
export class MetadataRecorder {
  readonly #parts: RecordedPart[] = [];
  readonly #open = new Map<string, RecordedPart>();

  begin(type: "text" | "reasoning", id: string, metadata: Metadata | undefined): void {
    const part: RecordedPart = { type, text: "", metadata };
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

  /** Undefined if the provider sent no metadata: then the plain message is enough. */
  result(model: string): ProviderMetadata | undefined {
    const hasMetadata = this.#parts.some(({ metadata }) => metadata !== undefined);
    return hasMetadata ? { model, content: this.#parts } : undefined;
  }
}

/** The content of an assistant message as the same model sent it; undefined if it was not recorded. */
export function recordedContent(
  { providerMetadata, calls: made }: Extract<Message, { role: "assistant" }>,
  model: string,
  idOf: (callId: string) => string,
  calls: readonly CallPart[],
): AssistantPart[] | undefined {
  if (providerMetadata === undefined || providerMetadata.model !== model) return undefined;
  const recorded = recordedParts(providerMetadata.content);
  const known = new Set(made.map(({ callId }) => callId));
  const content = recorded.flatMap((part) => {
    if (part.type !== "call") return textPart(part);
    const call = known.delete(part.text)
      ? calls.find((each) => each.toolCallId === idOf(part.text))
      : undefined;
    return call === undefined ? [] : [{ ...call, ...options(part.metadata) }];
  });
  const left = new Set([...known].map(idOf));
  return [...content, ...calls.filter(({ toolCallId }) => left.has(toolCallId))];
}

/** Reasoning without a signature is not sent back: no provider accepts it. */
function textPart({ type, text, metadata }: RecordedPart): AssistantPart[] {
  if (type === "reasoning")
    return metadata === undefined ? [] : [{ type: "reasoning", text: cleanText(text), ...options(metadata) }];
  return text === "" ? [] : [{ type: "text", text: cleanText(text), ...options(metadata) }];
}

function options(metadata: Metadata | undefined): { providerOptions?: ProviderOptions } {
  if (metadata === undefined) return {};
  const signature = Object.values(metadata).find((fields) => fields.thoughtSignature !== undefined);
  // Gemini behind an OpenAI-compatible URL sends its signature under the provider's name and expects it back under google.
  const google =
    signature === undefined ? {} : { google: { thoughtSignature: signature.thoughtSignature ?? null } };
  return { providerOptions: { ...metadata, ...google } };
}

function merged(first: Metadata | undefined, second: Metadata | undefined): Metadata | undefined {
  if (first === undefined || second === undefined) return second ?? first;
  const names = [...new Set([...Object.keys(first), ...Object.keys(second)])];
  return Object.fromEntries(names.map((name) => [name, { ...first[name], ...second[name] }]));
}

function recordedParts(content: unknown): readonly RecordedPart[] {
  return Array.isArray(content) ? content.filter(isRecordedPart) : [];
}

function isRecordedPart(value: unknown): value is RecordedPart {
  return isRecord(value) && typeof value.text === "string" && typeof value.type === "string";
}
