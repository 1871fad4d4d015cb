import { connect } from "node:net";
import { streamTransport, type Transport } from "@flint/rpc";

/** The way to a server at a unix socket, such as that of `flint serve --listen unix:PATH`. A failure shows as a close. */
export function socketTransport(path: string): Transport {
  const socket = connect({ path });
  return streamTransport(socket, socket);
}
