import { describeRefusedConnection, type Grant, type Item } from "@flint/protocol";

/** Clients show a declined command like one that ran without output, so its output says that it did not. */
export const DECLINED_COMMAND = "Declined. It did not run.";

/** What a declined action shows: the reason, where it is known. */
export function declinedText(reason: string | undefined): string {
  return reason === undefined || reason === "" ? "Declined." : `Declined: ${reason}`;
}

/** The connections of a command that were refused, one to a line, unless its output names them already. */
export function refusedConnections({
  connections = [],
  aggregatedOutput = "",
}: Item<"commandExecution">): string {
  return connections
    .filter(({ allowed }) => !allowed)
    .map(({ host, port, reason = "it is not allowed" }) => describeRefusedConnection({ host, port, reason }))
    .filter((line) => !aggregatedOutput.includes(line))
    .join("\n");
}

/** What a client is shown when an answer counts that came after its question had ended. */
export function lateGrantText({ words }: Grant): string {
  return `The next time, this is allowed once: ${words}`;
}
