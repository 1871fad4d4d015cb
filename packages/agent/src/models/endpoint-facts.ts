import { isRecord } from "@flint/protocol";
import type { ModelSettings, Price } from "./prices.ts";

/**
 * Fields in which endpoints state the context window of a model, the most specific first. A loaded model may
 * have less than it supports.
 */
const WINDOW_FIELDS: readonly (readonly string[])[] = [
  // LM Studio: what the model was loaded with.
  ["loaded_context_length"],
  // llama.cpp
  ["meta", "n_ctx"],
  // vLLM and SGLang
  ["max_model_len"],
  // OpenRouter: what the endpoint behind it accepts, then what the model supports.
  ["top_provider", "context_length"],
  ["context_length"],
  // Groq
  ["context_window"],
  // LM Studio, Mistral
  ["max_context_length"],
  // llama.cpp: what the model was trained with.
  ["meta", "n_ctx_train"],
];

/** Returns the model's settings in a row of an endpoint's model list. */
export function settingsInRow(row: Readonly<Record<string, unknown>>): ModelSettings {
  const [contextWindow] = WINDOW_FIELDS.flatMap((path) => positive(valueAt(row, path)) ?? []);
  const price = priceIn(row.pricing);
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(price === undefined ? {} : { price }),
  };
}

/** The models of a list with what it says about each, by name. */
export function settingsInList(list: unknown, limit: number): ReadonlyMap<string, ModelSettings> {
  return new Map(
    rowsOf(list, limit).flatMap((row) => {
      const name = nameOf(row);
      return name === undefined || !isRecord(row) ? [] : [[name, settingsInRow(row)] as const];
    }),
  );
}

/** The names of the models in a list, whatever the endpoint calls them. */
export function namesInList(list: unknown, limit: number): string[] {
  return rowsOf(list, limit).flatMap((row) => nameOf(row) ?? []);
}

function rowsOf(list: unknown, limit: number): readonly unknown[] {
  const rows = isRecord(list) ? (list.data ?? list.models) : list;
  return Array.isArray(rows) ? rows.slice(0, limit) : [];
}

function nameOf(row: unknown): string | undefined {
  const name = isRecord(row) ? (row.id ?? row.name ?? row.model) : row;
  return typeof name === "string" && name !== "" ? name : undefined;
}

/** The context window that Ollama runs a model with, else the one it is configured with, else the largest it supports. */
export function ollamaWindow(name: string, running: unknown, shown: unknown): number | undefined {
  const loaded = rowsOf(running, Number.POSITIVE_INFINITY).find((row) => nameOf(row) === name);
  const atWork = isRecord(loaded) ? positive(loaded.context_length) : undefined;
  if (atWork !== undefined || !isRecord(shown)) return atWork;
  const [, set] =
    typeof shown.parameters === "string" ? (/^num_ctx\s+(\d+)/m.exec(shown.parameters) ?? []) : [];
  if (set !== undefined) return positive(set);
  const info = isRecord(shown.model_info) ? Object.entries(shown.model_info) : [];
  return positive(info.find(([key]) => key.endsWith(".context_length"))?.[1]);
}

/** OpenRouter states dollars for one token, as strings. */
function priceIn(pricing: unknown): Price | undefined {
  if (!isRecord(pricing) || typeof pricing.prompt !== "string") return undefined;
  const [input, output] = [perMillion(pricing.prompt), perMillion(pricing.completion)];
  if (input === undefined || output === undefined) return undefined;
  return {
    ...{ input, output },
    cacheRead: perMillion(pricing.input_cache_read) ?? input,
    cacheWrite: perMillion(pricing.input_cache_write) ?? input,
  };
}

function perMillion(dollars: unknown): number | undefined {
  const amount = typeof dollars === "string" && dollars !== "" ? Number(dollars) * 1_000_000 : Number.NaN;
  // Variable prices are stated as -1.
  return Number.isFinite(amount) && amount >= 0 ? amount : undefined;
}

function valueAt(row: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), row);
}

function positive(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
