import { describeRefusedConnection, type Grant, type Item } from "@flint/protocol";

/** Clients show a declined command like one that ran without output, so its output says that it did not. */
export const DECLINED_COMMAND = "Declined. It did not run.";

/** Returns the text of a declined action: the reason, where it is known. */
export function declinedText(reason: string | undefined): string {
  return reason === undefined || reason === "" ? "Declined." : `Declined: ${reason}`;
}

/** Returns what the sandbox denied to a command, one thing to a line, unless its output says so already. */
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

/** Returns the text for an answer that counts although it came after its question had ended. */
export function lateGrantText({ words }: Grant): string {
  return `The next time, this is allowed once: ${words}`;
}
