import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { fileURLToPath } from "node:url";
import type { DialOptions } from "../dial.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

/** The certificate that programs have to trust; its key was thrown away when the one of the servers was signed. */
export const CA_FILE = fixture("ca.pem");

/** A few servers on this machine that programs take for the internet. */
export interface Internet {
  /** Leads to the servers whatever address was checked; hosts that begin with `inside.` have private addresses. */
  readonly dial: DialOptions;
  /** Everything that was looked up. */
  readonly resolved: readonly string[];
  /** Data that arrived on the port of ssh. */
  readonly greetings: readonly string[];
  stop(): void;
}

/**
 * `serve` answers requests for any host, with TLS and without; it looks at their `host` header. Without a server for ssh,
 * there is one that only greets.
 */
export async function startInternet(serve: RequestListener, sshServer?: Server): Promise<Internet> {
  const secure = { key: readFileSync(fixture("server.key")), cert: readFileSync(fixture("server.pem")) };
  const greetings: string[] = [];
  const resolved: string[] = [];
  const ssh = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (data) => {
      greetings.push(String(data).trim());
      socket.end();
    });
    socket.write("SSH-2.0-Flint_test\r\n");
  });
  const servers = {
    443: createHttpsServer(secure, serve),
    80: createHttpServer(serve),
    22: sshServer ?? ssh,
  };
  const ports = new Map<number, number>();
  for (const [port, server] of Object.entries(servers)) ports.set(Number(port), await listen(server));
  return {
    dial: {
      resolve: async (host) => {
        resolved.push(host);
        if (host.startsWith("missing.")) throw new Error("ENOTFOUND");
        return [host.startsWith("inside.") ? "10.0.0.1" : "93.184.216.34"];
      },
      connect: ([address], port) => {
        const reached = address === "127.0.0.1" ? port : (ports.get(port) ?? 1);
        return connect({ port: reached, host: "127.0.0.1", allowHalfOpen: true });
      },
    },
    resolved,
    greetings,
    stop: () => {
      for (const server of Object.values(servers)) server.close();
    },
  };
}

/** Resolves with the port. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(0, host, resolve));
  // A server that listens on a port has an address with one.
  return (server.address() as AddressInfo).port;
}
