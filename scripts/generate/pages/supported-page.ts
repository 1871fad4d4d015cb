import { ERROR_KINDS, type ErrorKind, type Vocabulary } from "@flint/protocol";
import { code, table } from "../markdown.ts";
import { fillProse } from "../prose.ts";

/** The page of a protocol defined elsewhere: which part of it Flint supports. */
export function supportedPage(prose: string, vocabulary: Vocabulary): string {
  const { requests, notifications, serverRequests, serverNotifications, errorCodes } = vocabulary;
  return fillProse(prose, {
    requests: words("Request", requests),
    notifications: words("Notification", notifications),
    serverRequests: words("Request", serverRequests),
    serverNotifications: words("Notification", serverNotifications),
    errors: errors(errorCodes),
  });
}

function words(heading: string, rows: Readonly<Record<string, { readonly doc: string }>>): string {
  const sorted = Object.entries(rows).sort(([left], [right]) => (left < right ? -1 : 1));
  return table(
    [heading, "What it is for"],
    sorted.map(([name, { doc }]) => [code(name), doc]),
  );
}

function errors(codes: Readonly<Record<ErrorKind, number>>): string {
  // The keys of a table of ours; Object.keys forgets that.
  const kinds = Object.keys(ERROR_KINDS) as ErrorKind[];
  const sorted = kinds.sort((left, right) => codes[right] - codes[left]);
  return table(
    ["Code", "Reason", "Meaning"],
    sorted.map((kind) => [String(codes[kind]), code(kind), ERROR_KINDS[kind]]),
  );
}
