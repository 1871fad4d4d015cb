import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { chmodSync, cpSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { describeEachMechanism, needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import type { MechanismName } from "../sandbox/mechanisms/launch.ts";
import { bundle } from "./testing/bundle.ts";
import { listen } from "./testing/internet.ts";
import { type Listeners, probeLeaks } from "./testing/leak-probe.ts";
import { probeScope, type ScopedProbe } from "./testing/scoped-probe.ts";

const NO_ONE = 65_534;

/** Listeners outside, and how many connections and messages they had. */
async function listeners(): Promise<Listeners & { visitors(): number }> {
  let visitors = 0;
  const visit = () => {
    visitors += 1;
  };
  const tcp = createServer(visit);
  const served = createServer((socket) => socket.end("served\n"));
  const abstract = createServer(visit);
  const udp = createSocket("udp4", visit);
  const abstractName = `flint-leak-${process.pid}-${Math.random()}`;
  await new Promise<void>((resolve) => abstract.listen(`\0${abstractName}`, resolve));
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const server of [tcp, served, abstract, udp]) server.close();
  });
  const ports = { tcpPort: await listen(tcp), udpPort: udp.address().port, servedPort: await listen(served) };
  return { ...ports, abstractName, visitors: () => visitors };
}

/** A program in a process of another user, who may read neither these sources nor programs that were fetched. */
async function runAsNobody(source: string, ...args: readonly string[]): Promise<unknown> {
  const folder = mkdtempSync("/var/tmp/flint-leak-test-");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  const program = await bundle(folder, source);
  const bwrap = (process.env.PATH ?? "").split(":").find((each) => existsSync(join(each, "bwrap")));
  const fetched = join(bwrap ?? folder, "..");
  if (existsSync(join(fetched, "files/usr/bin/bwrap")))
    cpSync(fetched, join(folder, "fetched"), { recursive: true, verbatimSymlinks: true });
  const env = { ...process.env, HOME: "/nonexistent", PATH: `${folder}/fetched/bin:${process.env.PATH}` };
  const options = { uid: NO_ONE, gid: NO_ONE, env };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], options);
  return JSON.parse(stdout);
}

async function probeAsNobody(input: Listeners): Promise<Record<string, string>> {
  const source = `import { probeLeaks } from "./leak-probe.ts";
    console.log(JSON.stringify(await probeLeaks(JSON.parse(process.argv[2]))));`;
  // The probe prints what it returns.
  return (await runAsNobody(source, JSON.stringify(input))) as Record<string, string>;
}

async function probeScopeAsNobody(mechanism: MechanismName, port: number): Promise<ScopedProbe> {
  const source = `import { probeScope } from "./scoped-probe.ts";
    console.log(JSON.stringify(await probeScope(process.argv[2], Number(process.argv[3]))));`;
  // The probe prints what it returns.
  return (await runAsNobody(source, mechanism, String(port))) as ScopedProbe;
}

const USERS = { "the user who runs the tests": probeLeaks, "an ordinary user": probeAsNobody } as const;

const REFUSED = "111";
const UNREACHABLE = "101";
const NOT_PERMITTED = "1";

describe.each(Object.keys(USERS) as (keyof typeof USERS)[])("a command of %s", (user) => {
  const isPossible = user !== "an ordinary user" || process.getuid?.() === 0;
  const test = needs(isPossible ? "bwrap" : "root");

  test("does not get out of its namespace in any way but the proxy [A18, A19]", async () => {
    const outside = await listeners();
    const { tcp6, udp6, ...found } = await USERS[user](outside);
    expect(found).toEqual({
      ...{ tcp: UNREACHABLE, udp: UNREACHABLE, metadata: UNREACHABLE, private: UNREACHABLE },
      ...{ "host-tcp": REFUSED, "host-udp": "sent", abstract: REFUSED, dns: "none", unshare: "none" },
      ...{ raw: NOT_PERMITTED, packet: NOT_PERMITTED, vsock: NOT_PERMITTED, alg: NOT_PERMITTED },
      ...{ "CONNECT-10.0.0.1:80": "400", "CONNECT-127.0.0.1:PORT": "400", "CONNECT-0x7f.1:PORT": "400" },
      ...{ "CONNECT-2130706433:PORT": "400", "CONNECT-[::1]:PORT": "400" },
      ...{ "CONNECT-[::ffff:127.0.0.1]:PORT": "400", "CONNECT-169.254.169.254:80": "400" },
      ...{ "CONNECT-aNUL.allowed.example:443": "400", "CONNECT-localhost:PORT": "403" },
      ...{ "CONNECT-inside.example:443": "403", "CONNECT-other.example:443": "403" },
      ...{ dials: "0", stderr: "", relay: "served\n" },
    });
    // A machine without IPv6 has no such addresses or sockets.
    for (const answer of [tcp6, udp6]) expect([UNREACHABLE, "97", "99"]).toContain(answer);
    expect(outside.visitors()).toBe(0);
  });
});

describeEachMechanism("commands of a thread in the whole sandbox, with %s", (mechanism, test) => {
  const ordinary = needs(mechanism === "bubblewrap" ? "bwrap" : "namespaces", "root", "curl");
  const seen = (user: number): ScopedProbe => ({
    limitations: [],
    user: String(user),
    ...{ sockets: "1 1 1 open", openSockets: "1 1 1 open", agentSockets: "1 1 1 open" },
    ...{ direct: REFUSED, asked: ["other.example"] },
    proxied: "Flint's sandbox refused the connection to other.example:80: it was declined.",
  });

  test("are confined for the user who runs the tests", async () => {
    const { tcpPort, visitors } = await listeners();
    expect(await probeScope(mechanism, tcpPort)).toEqual(seen(process.getuid?.() ?? 0));
    expect(visitors()).toBe(0);
  });

  ordinary("are confined for an ordinary user", async () => {
    const { tcpPort, visitors } = await listeners();
    expect(await probeScopeAsNobody(mechanism, tcpPort)).toEqual(seen(NO_ONE));
    expect(visitors()).toBe(0);
  });
});
