import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { join } from "node:path";
import { needs, settled, TestClock } from "@flint/testkit";
import { describe, expect, onTestFinished, vi } from "vitest";
import type { ConnectionEvent } from "./connection-log.ts";
import type { NetworkAnswer, NetworkQuestion } from "./host-gate.ts";
import { FilteringProxy } from "./proxy.ts";
import { bundle } from "./testing/bundle.ts";
import { CA_FILE, listen, startInternet } from "./testing/internet.ts";
import { NetworkFixture, networkTools } from "./testing/network-commands.ts";
import { ThreadNetwork, type ThreadNetworkOptions } from "./thread-network.ts";

const test = needs("bwrap", "curl");

/** A thread with a small internet around it, in which every host answers with its name. */
async function thread(options: Partial<ThreadNetworkOptions> = {}) {
  const internet = await startInternet((request, response) =>
    response.end(`this is ${request.headers.host}\n`),
  );
  onTestFinished(() => internet.stop());
  const events: ConnectionEvent[] = [];
  const trust = { CURL_CA_BUNDLE: CA_FILE, NODE_EXTRA_CA_CERTS: CA_FILE };
  const fixture = await NetworkFixture.create(
    { dial: internet.dial, onEvent: (event) => events.push(event), ...options },
    trust,
  );
  onTestFinished(() => fixture.remove());
  return { ...fixture, fixture, network: fixture.network, internet, events };
}

/** A command that serves a port inside until it is asked for /stop. */
function serving(port: number): string {
  const answer = `(q, r) => r.end("inside", () => q.url === "/stop" && process.exit())`;
  return `exec ${process.execPath} -e 'require("http").createServer(${answer}).listen(${port}, "127.0.0.1")'`;
}

const RETRY = "--retry 100 --retry-connrefused --retry-delay 1 --retry-max-time 20";

/** A user whose answers the test gives. */
function user() {
  const questions: NetworkQuestion[] = [];
  const answers: ((answer: NetworkAnswer) => void)[] = [];
  const ask = (question: NetworkQuestion) =>
    new Promise<NetworkAnswer>((resolve) => {
      questions.push(question);
      answers.push(resolve);
    });
  return { ask, questions, answers };
}

describe("a command in the namespace", () => {
  test("reaches an allowed host through the proxy, with TLS and without", async () => {
    const { fixture, events } = await thread({ allow: ["registry.example"] });
    const { stdout } = await fixture.run("curl -sS https://registry.example/ http://registry.example/", {
      id: "c",
    });
    expect(stdout).toBe("this is registry.example\nthis is registry.example\n");
    expect(events.map(({ host, port, outcome, command }) => [host, port, outcome, command])).toEqual([
      ["registry.example", 443, "allowed", "c"],
      ["registry.example", 80, "allowed", "c"],
    ]);
  });

  test("is refused other hosts, which are not even looked up, and leaves a fact about it", async () => {
    const { fixture, internet, network } = await thread({ allow: ["registry.example"] });
    const startedAt = Date.now();
    const https = await fixture.run("curl -sS https://other.example/", { id: "a" });
    expect(https).toMatchObject({ exitCode: 56, stderr: expect.stringContaining("403") });
    const http = await fixture.run("curl -sSi http://other.example/", { id: "b" });
    expect(http.stdout).toMatch(
      /403 Forbidden.*x-proxy-error: blocked-by-allowlist.*--network other\.example:80/s,
    );
    expect(internet.resolved).toEqual([]);
    const window = { startedAt, endedAt: Date.now() };
    expect(network.refusedTo({ command: "a", ...window })).toMatchObject([
      { host: "other.example", port: 443, isCertain: true, count: 1 },
    ]);
    expect(network.refusedTo({ command: "b", ...window })).toMatchObject([{ port: 80 }]);
  });

  test("reaches a private host at the addresses that the user named, and gets the rule for others", async () => {
    const { fixture, network } = await thread({
      allow: ["inside.one.example=10.0.0.0/24", "inside.two.example=10.9.0.0/16", "inside.three.example"],
    });
    const fetch = (host: string) => fixture.run(`curl -sS http://${host}/`, { id: host });
    const startedAt = Date.now();
    expect((await fetch("inside.one.example")).stdout).toBe("this is inside.one.example\n");
    expect((await fetch("inside.two.example")).stdout).toContain(
      "inside.two.example resolves to 10.0.0.1, which is not among the addresses named for it (10.9.0.0/16)",
    );
    expect((await fetch("inside.three.example")).stdout).toContain(
      "inside.three.example resolves to 10.0.0.1, a private address; only the user can allow it (--network inside.three.example:80=10.0.0.1)",
    );
    const window = { command: "inside.three.example", startedAt, endedAt: Date.now() };
    expect(network.refusedTo(window)).toMatchObject([
      {
        code: "private-address",
        reason: expect.stringContaining("--network inside.three.example:80=10.0.0.1"),
      },
    ]);
  });

  test("alone reaches the private addresses that are named in its own hosts", async () => {
    const { fixture } = await thread({ allow: ["inside.example"] });
    const fetch = "curl -sS http://inside.example/";
    const named = await fixture.run(fetch, { hosts: ["inside.example=10.0.0.1"] });
    expect(named.stdout).toBe("this is inside.example\n");
    expect((await fixture.run(fetch)).stdout).toContain("resolves to 10.0.0.1, a private address");
  });

  test("waits while the user is asked once, and then continues", async () => {
    const { ask, questions, answers } = user();
    const { fixture, events } = await thread({ ask });
    const fetch = "curl -sS https://registry.example/ & curl -sS https://registry.example/ & wait";
    const running = fixture.run(fetch, { id: "install" });
    await expect.poll(() => events.filter(({ outcome }) => outcome === "held").length).toBe(2);
    expect(questions).toMatchObject([{ host: "registry.example", port: 443, command: "install" }]);
    answers[0]?.({ decision: "allow", scope: "once" });
    expect((await running).stdout).toBe("this is registry.example\nthis is registry.example\n");
    const again = fixture.run("curl -sS https://registry.example/", { id: "other" });
    await expect.poll(() => questions.length).toBe(2);
    answers[1]?.({ decision: "deny", scope: "once" });
    expect(await again).toMatchObject({ exitCode: 56 });
  });

  test("alone has the hosts that it was given, by its token", async () => {
    const { fixture } = await thread();
    const fetch = "curl -sS https://registry.example/";
    expect(await fixture.run(fetch, { hosts: ["registry.example"] })).toMatchObject({ exitCode: 0 });
    expect(await fixture.run(fetch)).toMatchObject({ exitCode: 56 });
    const withoutToken = `https_proxy=http://127.0.0.1:3128 ${fetch}`;
    expect(await fixture.run(withoutToken, { hosts: ["registry.example"] })).toMatchObject({ exitCode: 56 });
  });

  test("cannot use the token of a command that has ended", async () => {
    const { fixture, network } = await thread({ allow: ["registry.example"] });
    const ended = await network.openCommand({ id: "ended", environment: {} });
    ended.release();
    const proxy = ended.environment.HTTPS_PROXY ?? "";
    const { stdout } = await fixture.run(`curl -sSi --proxy ${proxy} http://registry.example/`);
    expect(stdout).toMatch(/403 Forbidden.*x-proxy-error: unknown-command/s);
  });

  test("has no more rights and no other user id than outside", async () => {
    const { fixture } = await thread();
    const { stdout } = await fixture.run("id -u; grep CapEff /proc/self/status; ip link set lo down 2>&1");
    expect(stdout).toMatch(new RegExp(`^${process.getuid?.()}\nCapEff:\\s+0+\n`));
    expect(await fixture.run("unshare --user --net true")).not.toMatchObject({ exitCode: 0 });
  });

  test("reaches a server that another command of the thread started", async () => {
    const { fixture } = await thread();
    const server = fixture.run(serving(5000));
    const fetched = await fixture.run(`curl -sS ${RETRY} http://localhost:5000/`);
    expect(fetched).toMatchObject({ stdout: "inside" });
    await fixture.run("curl -sS http://127.0.0.1:5000/stop");
    await server;
  });

  test("does not share its namespace with another thread", async () => {
    const [one, two] = [await thread(), await thread()];
    const [first, again, second] = [
      await one.fixture.run("readlink /proc/self/ns/net"),
      await one.fixture.run("readlink /proc/self/ns/net"),
      await two.fixture.run("readlink /proc/self/ns/net"),
    ];
    expect(first.stdout).toBe(again.stdout);
    expect(first.stdout).not.toBe(second.stdout);
  });
});

describe("a port of the user's machine", () => {
  async function service() {
    const server = createHttpServer((_request, response) => response.end("service"));
    onTestFinished(() => void server.close());
    return listen(server);
  }

  test("is reached where it was named, and nowhere else", async () => {
    const [named, other] = [await service(), await service()];
    const { fixture, events } = await thread({ allow: [`localhost:${named}`] });
    const node = `${process.execPath} -e 'fetch("http://localhost:${named}/").then((r) => r.text()).then(console.log)'`;
    const fetch = `curl -sS http://localhost:${named}/ http://127.0.0.1:${named}/ && ${node}`;
    expect((await fixture.run(fetch)).stdout).toBe("serviceserviceservice\n");
    expect(await fixture.run(`curl -sS http://localhost:${other}/`)).toMatchObject({ exitCode: 7 });
    expect(events).toContainEqual(
      expect.objectContaining({ host: "localhost", port: named, outcome: "allowed" }),
    );
  });

  test("is reached for one command, while it runs", async () => {
    const port = await service();
    const { fixture } = await thread();
    const fetch = `curl -sS http://localhost:${port}/`;
    expect(await fixture.run(fetch, { hosts: [`localhost:${port}`] })).toMatchObject({ stdout: "service" });
    expect(await fixture.run(fetch)).toMatchObject({ exitCode: 7 });
  });

  test("stays open for a command that was given it, too, when the other one ends", async () => {
    const port = await service();
    const { fixture, network } = await thread();
    const hosts = [`localhost:${port}`];
    const [one, two] = await Promise.all(
      ["one", "two"].map((id) => network.openCommand({ id, hosts, environment: {} })),
    );
    one?.release();
    const fetch = `curl -sS http://localhost:${port}/`;
    expect(await fixture.run(fetch)).toMatchObject({ stdout: "service" });
    two?.release();
    await expect.poll(() => fixture.run(fetch)).toMatchObject({ exitCode: 7 });
  });

  test("is reached after it was allowed, also by programs that send it to the proxy", async () => {
    const port = await service();
    const { ask, questions, answers } = user();
    const { fixture } = await thread({ ask });
    const fetch = `NO_PROXY= no_proxy= curl -sS http://localhost:${port}/`;
    const asked = fixture.run(fetch);
    await expect.poll(() => questions.length).toBe(1);
    answers[0]?.({ decision: "allow", scope: "thread" });
    expect(await asked).toMatchObject({ stdout: "service" });
    expect(await fixture.run(`curl -sS http://127.0.0.1:${port}/`)).toMatchObject({ stdout: "service" });
  });

  test("stays closed if a deny rule names it", async () => {
    const port = await service();
    const { fixture } = await thread({ allow: [`localhost:${port}`], deny: [`localhost:${port}`] });
    expect(await fixture.run(`curl -sS http://localhost:${port}/`)).toMatchObject({ exitCode: 7 });
  });

  test("that a command listens on itself is a clear error", async () => {
    const port = await service();
    const { fixture, network } = await thread();
    const server = fixture.run(serving(port));
    const fetch = `curl -sS ${RETRY} http://localhost:${port}`;
    expect(await fixture.run(`${fetch}/`)).toMatchObject({ stdout: "inside" });
    await expect(network.allow(`localhost:${port}`)).rejects.toThrow(
      `localhost:${port} of your machine cannot be reached`,
    );
    await fixture.run(`${fetch}/stop`);
    await server;
  });
});

describe("the life of a namespace", () => {
  test("begins with the first command, and a second one starts no other", async () => {
    const { network } = await thread();
    const opened = await Promise.all(
      ["a", "b", "c"].map((id) => network.openCommand({ id, environment: {} })),
    );
    expect(new Set(opened.map(({ enter }) => enter.join(" "))).size).toBe(1);
  });

  test("that cannot be made is a clear error, and the next command tries again", async () => {
    const tools = { ...networkTools(), holder: ["/nonexistent/bwrap"] };
    const { network } = await thread({ tools });
    const open = () => network.openCommand({ id: "a", environment: {} });
    await expect(open()).rejects.toMatchObject({
      kind: "sandboxUnavailable",
      message: expect.stringMatching(/network of the thread.*ENOENT/),
    });
    Object.assign(tools, networkTools());
    expect((await open()).enter[0]).toContain("nsenter");
  });

  test("ends with the thread: running commands lose their connections immediately, and new ones are refused", async () => {
    const { ask, questions } = user();
    const { fixture, network } = await thread({ ask });
    const running = fixture.run("curl -sS https://registry.example/");
    await expect.poll(() => questions.length).toBe(1);
    await network.dispose();
    expect((await running).exitCode).not.toBe(0);
    expect(questions[0]?.signal.aborted).toBe(true);
    await expect(network.openCommand({ id: "late", environment: {} })).rejects.toThrow("has ended");
    await settled();
  });

  test("is replaced when its proxy stops, and old connections fail", async () => {
    const serve = vi.spyOn(FilteringProxy.prototype, "serve");
    onTestFinished(() => serve.mockRestore());
    const { fixture, network } = await thread({ allow: ["registry.example"] });
    const before = await network.openCommand({ id: "before", environment: {} });
    const [listener] = serve.mock.calls[0] ?? [];
    await new Promise((resolve) => listener?.close(resolve));
    const fetch = "curl -sS http://registry.example/; readlink /proc/self/ns/net";
    const after = await fixture.run(fetch);
    expect(after.stdout).toMatch(/^this is registry\.example\n/);
    const again = await network.openCommand({ id: "again", environment: {} });
    expect(again.enter).not.toEqual(before.enter);
    const stale = spawnSync(before.enter[0] ?? "", [...before.enter.slice(1), "sh", "-c", fetch], {
      encoding: "utf8",
      env: { PATH: process.env.PATH, ...before.environment },
    });
    expect(stale.stderr).toMatch(/Failed to connect|Couldn't connect/);
    for (const command of [before, again]) command.release();
  });

  test("whose helper fails or is killed is a clear error", async () => {
    const folder = mkdtempSync("/var/tmp/flint-network-test-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const script = (name: string, text: string) => {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
      return join(folder, name);
    };
    const open = (node: string, clock?: TestClock) => {
      const tools = { ...networkTools(), node };
      const options = { tools, programs: { preload: "", connect: "" }, ...(clock && { clock }) };
      return new ThreadNetwork(options).openCommand({ id: "a", environment: {} });
    };
    await expect(open(script("fails", "echo out of memory >&2; exit 1"))).rejects.toThrow("out of memory");
    const clock = new TestClock();
    const hangs = expect(open(script("hangs", "exec sleep 1000"), clock)).rejects.toThrow("ended by SIGKILL");
    await expect.poll(() => clock.pending).toBe(1);
    await clock.advance(10_000);
    await hangs;
  });

  test("leaves nothing behind when this process is killed", async () => {
    const folder = mkdtempSync("/var/tmp/flint-network-test-");
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = await bundle(
      folder,
      `import { NetworkFixture } from "./network-commands.ts";
       const fixture = await NetworkFixture.create();
       const network = await fixture.run("readlink /proc/self/ns/net");
       console.log(JSON.stringify({ network: network.stdout.trim(), home: fixture.home }));
       await fixture.run("touch started; sleep 1000");`,
    );
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await once(child.stdout, "data");
    const { network, home } = JSON.parse(String(line));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    await expect.poll(() => existsSync(join(home, "started")), { timeout: 10_000 }).toBe(true);
    expect(processesIn(network)).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await expect.poll(() => processesIn(network), { timeout: 10_000 }).toBe(0);
  });
});

/** The number of processes that are in a network namespace. */
function processesIn(network: string): number {
  const pids = readdirSync("/proc").filter((name) => /^[0-9]+$/.test(name));
  const isIn = (pid: string) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`) === network;
    } catch {
      return false; // Gone already, or that of another user.
    }
  };
  return pids.filter(isIn).length;
}
