import { createServer, type Socket } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { announcePort } from "../sandbox/sockets.ts";
import { Dialer, isPublicAddress } from "./dial.ts";

describe("public addresses", () => {
  test.each(["93.184.216.34", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d822", "::ffff:1.1.1.1"])(
    "include %s",
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  test.each([
    ...["0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254"],
    ...["168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.168.1.1"],
    ...["198.18.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"],
    ...["::", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:a00:1", "::7f00:1"],
    ...["64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "fe80::1", "fe80::1%eth0", "fc00::1"],
    ...["fd00:ec2::254", "ff02::1", "2001:db8::1", "2002:7f00:1::", "2001::1", "100::1"],
    ...["", "localhost", "0x7f.1", "127.1"],
  ])("do not include %j", (address) => expect(isPublicAddress(address)).toBe(false));
});

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
