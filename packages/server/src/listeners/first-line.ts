import type { Socket } from "node:net";
import { MAX_RENDEZVOUS_LINE } from "@flint/protocol";

const LF = 10;

/**
 * Reads the first line from a socket and leaves the rest unread. Undefined if the socket ends, the line is too long, or it
 * does not arrive in time.
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
    // Paused mode leaves the stream untouched for the next reader.
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
