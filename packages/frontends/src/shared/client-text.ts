import { describeRefusedConnection, type Grant, type Item, isRecord, type Model } from "@flint/protocol";

/** Clients show a declined command like one that ran without output, so its output says that it did not. */
export const DECLINED_COMMAND = "Declined. It did not run.";

/** What a declined action shows: the reason, where it is known. */
export function declinedText(reason: string | undefined): string {
  return reason === undefined || reason === "" ? "Declined." : `Declined: ${reason}`;
}

/** What the sandbox kept a command from, one thing to a line, unless its output says so already. */
export function stoppedText({
  connections = [],
  denials = [],
  aggregatedOutput = "",
}: Item<"commandExecution">): string {
  const refused = connections
    .filter(({ allowed }) => !allowed)
    .map(({ host, port, reason = "it is not allowed" }) => describeRefusedConnection({ host, port, reason }));
  return [...new Set([...refused, ...denials])].filter((line) => !aggregatedOutput.includes(line)).join("\n");
}

/** What a client is shown when an answer counts that came after its question had ended. */
export function lateGrantText({ words }: Grant): string {
  return `The next time, this is allowed once: ${words}`;
}

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
