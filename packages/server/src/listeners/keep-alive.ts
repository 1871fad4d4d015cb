import type { Clock } from "@flint/core/ports";
import { LIMITS } from "@flint/protocol";
import type { WebSocket } from "ws";

/** Asks a WebSocket client now and then whether it is still there, and ends the connection if it does not answer. */
export function keepAlive(webSocket: WebSocket, isHeldBack: () => boolean, clock: Clock): void {
  let heard = true;
  let stop = (): void => undefined;
  const hear = (): void => {
    heard = true;
  };
  const ask = (): void => {
    if (!heard && !isHeldBack()) {
      webSocket.terminate();
      return;
    }
    heard = false;
    webSocket.ping();
    stop = clock.after(LIMITS.pingMilliseconds, ask);
  };
  webSocket.on("pong", hear);
  webSocket.on("message", hear);
  webSocket.once("close", () => stop());
  stop = clock.after(LIMITS.pingMilliseconds, ask);
}
