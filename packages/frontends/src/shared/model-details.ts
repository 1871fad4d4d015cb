import { isRecord, type Model } from "@flint/protocol";

/** The description of a model for a picker, with what its agent tells about it. */
export function modelDescription({ description, meta }: Model): string | undefined {
  const parts = [description, ...details(meta ?? {})].filter((part) => part !== undefined && part !== "");
  return parts.length === 0 ? undefined : parts.join(" ");
}

function details({ contextWindow, price }: Readonly<Record<string, unknown>>): readonly string[] {
  return [
    ...(typeof contextWindow === "number" ? [`${tokens(contextWindow)} tokens of context.`] : []),
    ...(isRecord(price) && typeof price.input === "number" && typeof price.output === "number"
      ? [`$${price.input} in, $${price.output} out per million tokens.`]
      : []),
  ];
}

function tokens(count: number): string {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${Math.round(count / 1000)}K` : `${Math.round(count / 100_000) / 10}M`;
}
