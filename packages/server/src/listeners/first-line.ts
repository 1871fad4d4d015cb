import type { Socket } from "node:net";
import { MAX_RENDEZVOUS_LINE } from "@flint/protocol";

const LF = 10;

/**
 * Takes the first line off a socket and leaves the rest unread. Undefined if the socket ends, says too much, or takes
 * too long.
 */
export function firstLine(socket: Socket, milliseconds: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    let seen = Buffer.alloc(0);
    const settle = (line: string | undefined): void => {
      clearTimeout(timer);
      socket.off("readable", take).off("end", giveUp).off("close", giveUp).off("error", giveUp);
      resolve(line);
    };
    const giveUp = (): void => settle(undefined);
    // Reading by request, not as it flows, leaves the stream fresh for whoever comes next.
    const take = (): void => {
      seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)]);
      const end = seen.indexOf(LF);
      if (end !== -1) {
        if (end + 1 < seen.length) socket.unshift(seen.subarray(end + 1));
        settle(seen.toString("utf8", 0, end));
      } else if (seen.length > MAX_RENDEZVOUS_LINE) giveUp();
    };
    const timer = setTimeout(giveUp, milliseconds);
    timer.unref();
    socket.on("readable", take).on("end", giveUp).on("close", giveUp).on("error", giveUp);
  });
}
