import type { FetchLike } from "@modelcontextprotocol/client";

const LF = 10;
const CR = 13;

/**
 * A fetch whose responses fail when they exceed the limit: a body as a whole, an event stream in each of its events.
 * `exceeded` is called then.
 */
export function boundedFetch(limit: number, exceeded: () => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const size = isStream ? sinceBlankLine() : inTotal();
    return new Response(response.body.pipeThrough(limiter(limit, size, exceeded)), {
      status,
      statusText,
      headers,
    });
  };
}

/** The size of the message that a chunk belongs to. */
type Size = (chunk: Uint8Array) => number;

function limiter(limit: number, size: Size, exceeded: () => void): TransformStream<Uint8Array, Uint8Array> {
  return new TransformStream({
    transform(chunk, controller) {
      if (size(chunk) <= limit) return controller.enqueue(chunk);
      exceeded();
      controller.error(new Error(`A message had more than ${limit} bytes.`));
    },
  });
}

function inTotal(): Size {
  let total = 0;
  return (chunk) => {
    total += chunk.length;
    return total;
  };
}

/** The events of a stream are separated by blank lines. */
function sinceBlankLine(): Size {
  let size = 0;
  let lineIsBlank = true;
  return (chunk) => {
    let largest = size;
    for (const byte of chunk) {
      size += 1;
      largest = Math.max(largest, size);
      if (byte === LF && lineIsBlank) size = 0;
      if (byte !== CR) lineIsBlank = byte === LF;
    }
    return largest;
  };
}
