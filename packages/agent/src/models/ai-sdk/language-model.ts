import type { OpenAICompatibleProvider } from "@ai-sdk/openai-compatible";

/** A language model as the AI SDK's provider packages make them. Types only: nothing is loaded for them. */
export type LanguageModel = ReturnType<OpenAICompatibleProvider["languageModel"]>;

/** The options of one model call. */
export type CallOptions = Parameters<LanguageModel["doStream"]>[0];

/** The conversation as the SDK has it. */
export type Prompt = CallOptions["prompt"];
export type PromptMessage = Prompt[number];
export type AssistantPart = Exclude<Extract<PromptMessage, { role: "assistant" }>["content"][number], string>;
export type ToolPart = Extract<PromptMessage, { role: "tool" }>["content"][number];
export type ProviderOptions = NonNullable<CallOptions["providerOptions"]>;

type StepStream = Awaited<ReturnType<LanguageModel["doStream"]>>["stream"];

/** One part of a streamed response. */
export type StreamPart = StepStream extends ReadableStream<infer Part> ? Part : never;
export type StepUsage = Extract<StreamPart, { type: "finish" }>["usage"];
export type StepFinish = Extract<StreamPart, { type: "finish" }>["finishReason"];
