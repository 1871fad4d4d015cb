import { createServer, type Socket } from "node:net";
import { parseNetworkRule } from "@flint/protocol";
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

  const METADATA = "metadata service of a cloud, which no rule opens";

  test.each([
    ["127.0.0.1", "the rule localhost:80"],
    ["::ffff:127.0.0.1", "the rule localhost:80"],
    ["::1", "the rule localhost:80"],
    ["169.254.169.254", METADATA],
    ["fd00:ec2::254", METADATA],
    ["100.100.100.200", METADATA],
    ["192.168.0.1", "only the user can allow it (--network rebound.example:80=192.168.0.1)"],
    ["::ffff:a00:1", "only the user can allow it (--network rebound.example:80=10.0.0.1)"],
  ])(
    "refuses a name that resolves to %s, and names the rule that would open it, if any",
    async (address, way) => {
      const dialer = new Dialer({
        resolve: async () => [address],
        connect: () => {
          throw new Error("dialled");
        },
      });
      expect(await dialer.dial({ host: "rebound.example", port: 80 })).toMatchObject({
        ok: false,
        code: "private-address",
        reason: expect.stringContaining(way),
      });
    },
  );

  /** Dials a host that has these addresses, of which the user named those of the rules. */
  async function dialNamed(resolved: readonly string[], ...texts: string[]) {
    const { connect } = await import("node:net");
    const port = await localServer();
    const dialled: unknown[] = [];
    const dialer = new Dialer({
      resolve: async () => resolved,
      connect: (addresses) => {
        dialled.push(addresses);
        return connect(port, "127.0.0.1");
      },
    });
    const named = texts.flatMap((text) => {
      const rule = parseNetworkRule(`git.corp.example=${text}`);
      return rule.ok ? (rule.value.addresses ?? []) : [];
    });
    const found = await dialer.dial({ host: "git.corp.example", port: 443 }, named);
    if (found.ok) await textOf(found.socket);
    return { found, dialled };
  }

  test("reaches a host at those of its private addresses that the user named, and no others", async () => {
    const one = await dialNamed(["10.1.2.3", "10.1.2.4", "93.184.216.34", "127.0.0.1"], "10.1.2.3");
    expect([one.found.ok, one.dialled]).toEqual([true, [["10.1.2.3"]]]);
    const network = await dialNamed(["::ffff:10.200.0.1"], "192.168.1.0/24", "10.0.0.0/8");
    expect([network.found.ok, network.dialled]).toEqual([true, [["::ffff:10.200.0.1"]]]);
    const six = await dialNamed(["fd12::9"], "fd12::/32");
    expect([six.found.ok, six.dialled]).toEqual([true, [["fd12::9"]]]);
  });

  test.each([
    [["192.168.7.7"], "10.0.0.0/8", "named for it (10.0.0.0/8); only the user can allow it (--network git"],
    [["93.184.216.34"], "10.0.0.0/8", "93.184.216.34, which is not among the addresses named for it"],
    [["127.0.0.1"], "10.0.0.0/8", "the user's own machine"],
    [["100.100.100.200"], "100.64.0.0/10", "metadata service"],
    [["fd00:ec2::254"], "fc00::/7", "metadata service"],
  ])("refuses a named host that resolves to %s, with the reason", async (resolved, text, reason) => {
    const { found, dialled } = await dialNamed(resolved, text);
    expect(found).toMatchObject({ code: "private-address", reason: expect.stringContaining(reason) });
    expect(dialled).toEqual([]);
  });

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
