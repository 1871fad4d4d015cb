import { createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { announcePort } from "../sandbox/sockets.ts";
import { Dialer } from "./dial.ts";

/** A server on this machine, and how it is reached whatever address was checked. */
async function localServer() {
  const server = createServer((socket) => socket.end("hello"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function textOf(socket: Socket): Promise<string> {
  let text = "";
  for await (const chunk of socket) text += String(chunk);
  return text;
}

describe("dialling", () => {
  test("leads to a port of this machine, but not if a server of Flint listens there", async () => {
    const port = await localServer();
    const dialer = new Dialer();
    const dialled = await dialer.dial({ host: "localhost", port });
    if (!dialled.ok) throw new Error(dialled.reason);
    expect(await textOf(dialled.socket)).toBe("hello");
    const presence = await announcePort(port);
    expect(await dialer.dial({ host: "localhost", port })).toMatchObject({ ok: false, code: "own-server" });
    await presence.close();
    const again = await dialer.dial({ host: "localhost", port });
    expect(again.ok && (await textOf(again.socket))).toBe("hello");
  });

  test.each(["93.184.216.34", "::ffff:93.184.216.34"])(
    "leads to no server of Flint by a public address of this machine, %s",
    async (address) => {
      const { connect } = await import("node:net");
      const port = await localServer();
      const dialer = new Dialer({
        resolve: async () => [address],
        connect: (_, to) => connect({ host: "127.0.0.1", port: to }),
        ownAddresses: () => ["93.184.216.34"],
      });
      const endpoint = { host: "this.machine.example", port };
      const open = await dialer.dial(endpoint);
      expect(open.ok && (await textOf(open.socket))).toBe("hello");
      const presence = await announcePort(port);
      onTestFinished(() => presence.close());
      expect(await dialer.dial(endpoint)).toMatchObject({ ok: false, code: "own-server" });
    },
  );

  test("connects to the addresses that were checked, and resolves a name once", async () => {
    const { connect } = await import("node:net");
    const port = await localServer();
    const seen: unknown[] = [];
    const dialer = new Dialer({
      resolve: async (host) => {
        seen.push(host);
        return ["10.0.0.1", "93.184.216.34"];
      },
      connect: (addresses, asked) => {
        seen.push([addresses, asked]);
        return connect(port, "127.0.0.1");
      },
    });
    const dialled = await dialer.dial({ host: "a.example", port: 443 });
    if (!dialled.ok) throw new Error(dialled.reason);
    expect(await textOf(dialled.socket)).toBe("hello");
    expect(seen).toEqual(["a.example", [["93.184.216.34"], 443]]);
  });

  test.each([["127.0.0.1"], ["169.254.169.254"], ["::1"], ["192.168.0.1"]])(
    "refuses a name that resolves to %s",
    async (address) => {
      const dialer = new Dialer({
        resolve: async () => [address],
        connect: () => {
          throw new Error("dialled");
        },
      });
      expect(await dialer.dial({ host: "rebound.example", port: 80 })).toMatchObject({
        ok: false,
        code: "private-address",
        reason: expect.stringContaining("localhost:80"),
      });
    },
  );

  test("reaches a port of this machine that was named exactly, without resolving anything", async () => {
    const port = await localServer();
    const dialer = new Dialer({ resolve: () => Promise.reject(new Error("resolved")) });
    const dialled = await dialer.dial({ host: "localhost", port });
    if (!dialled.ok) throw new Error(dialled.reason);
    expect(await textOf(dialled.socket)).toBe("hello");
  });

  test("reports a host that does not exist or does not answer", async () => {
    const missing = new Dialer({ resolve: () => Promise.reject(new Error("ENOTFOUND")) });
    expect(await missing.dial({ host: "a.example", port: 80 })).toMatchObject({ code: "unresolved" });
    const closed = new Dialer();
    expect(await closed.dial({ host: "localhost", port: 1 })).toMatchObject({ code: "unreachable" });
  });

  test("looks up few names at a time, and the same name once", async () => {
    const open: (() => void)[] = [];
    const asked: string[] = [];
    const dialer = new Dialer({
      resolve: (host) =>
        new Promise((resolve) => {
          asked.push(host);
          open.push(() => resolve([]));
        }),
    });
    const dials = ["a", "a", "b", "c"].map((name) => dialer.dial({ host: `${name}.example`, port: 80 }));
    expect(asked).toEqual(["a.example", "b.example"]);
    open.shift()?.();
    await dials[0];
    expect(asked).toEqual(["a.example", "b.example", "c.example"]);
    for (const finish of open) finish();
    expect(await Promise.all(dials)).toHaveLength(4);
  });
});
