import { inputText, type QueuedInput } from "@flint/protocol";

/** More of a queued prompt is not repeated. */
const MAX_SHOWN = 60;

/** Describes a client's change of a thread's queue; undefined if nothing is different. */
export function queueNotice(
  before: readonly QueuedInput[],
  after: readonly QueuedInput[],
  client: string,
): string | undefined {
  const said = [
    ...after.filter(({ id }) => !has(before, id)).map((one) => `Queued by ${client}: ${shown(one)}`),
    ...before
      .filter(({ id }) => !has(after, id))
      .map((one) => `Taken from the queue by ${client}: ${shown(one)}`),
    ...after
      .filter((one) =>
        before.some((each) => each.id === one.id && inputText(each.input) !== inputText(one.input)),
      )
      .map((one) => `Queued prompt edited by ${client}: ${shown(one)}`),
  ];
  if (said.length > 0) return said.join("; ");
  const isReordered = after.some(({ id }, at) => before[at]?.id !== id);
  return isReordered ? `Queue reordered by ${client}.` : undefined;
}

function has(queue: readonly QueuedInput[], requested: string): boolean {
  return queue.some(({ id }) => id === requested);
}

function shown({ input }: QueuedInput): string {
  const text = inputText(input).replaceAll("\n", " ");
  return text.length <= MAX_SHOWN ? text : `${text.slice(0, MAX_SHOWN)}…`;
}
