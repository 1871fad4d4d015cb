import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { Transport } from "../transport.ts";
import { streamTransport } from "./streams.ts";

/** Collects text until the transport closes; a second close fails the test. */
function gather(transport: Transport) {
  let text = "";
  let closes = 0;
  const closed = new Promise<{ text: string; reason: Error | undefined; closes(): number }>((resolve) => {
    transport.start({
      chunk: (bytes) => {
        text += typeof bytes === "string" ? bytes : Buffer.from(bytes).toString();
      },
      closed: (reason) => {
        closes += 1;
        resolve({ text, reason, closes: () => closes });
      },
    });
  });
  return { closed, text: () => text };
}

const children: ChildProcess[] = [];

function run(script: string) {
  const child = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "ignore"] });
  children.push(child);
  return { child, exited: once(child, "exit") };
}

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

async function socketPair(): Promise<[Socket, Socket, () => void]> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const accepted = once(server, "connection");
  const client = connect(port, "127.0.0.1");
  const [served] = (await accepted) as [Socket];
  return [client, served, () => server.close()];
}

describe("a transport over streams", () => {
  it("passes chunks on and closes once, at the end of input", async () => {
    const input = new PassThrough();
    const received = gather(streamTransport(input, new PassThrough()));
    const gone = once(input, "close");
    input.end("some text");
    const end = await received.closed;
    await gone;
    expect([end.text, end.reason, end.closes()]).toEqual(["some text", undefined, 1]);
  });

  it("waits for the drain of the stream", async () => {
    const output = new PassThrough({ highWaterMark: 4 });
    const transport = streamTransport(new PassThrough(), output);
    const drained = new Promise<void>((resolve) => transport.onDrain(resolve));
    expect(transport.write("longer than four")).toBe(false);
    output.resume();
    await drained;
  });

  it("holds input back while it is paused", async () => {
    const input = new PassThrough();
    const transport = streamTransport(input, new PassThrough());
    transport.pause();
    const received = gather(transport);
    input.end("waits");
    await new Promise((resolve) => setImmediate(resolve));
    expect(received.text()).toBe("");
    transport.resume();
    expect((await received.closed).text).toBe("waits");
  });

  it("reports why a stream failed, also when it failed before the start", async () => {
    const input = new PassThrough();
    const transport = streamTransport(input, new PassThrough());
    const gone = new Promise((resolve) => input.on("close", resolve));
    input.destroy(new Error("disk on fire"));
    await gone;
    const end = await gather(transport).closed;
    expect([end.reason?.message, end.closes()]).toEqual(["disk on fire", 1]);
  });

  it("takes a broken pipe as a close and frees a waiting writer", async () => {
    const output = new PassThrough({ highWaterMark: 1 });
    const transport = streamTransport(new PassThrough(), output);
    const received = gather(transport);
    expect(transport.write("stuck")).toBe(false);
    const drained = new Promise<void>((resolve) => transport.onDrain(resolve));
    output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
    await drained;
    expect(transport.write("nowhere")).toBe(true);
    expect((await received.closed).reason).toBeUndefined();
  });

  it("closes both streams and reports it once", async () => {
    const input = new PassThrough();
    const output = new PassThrough();
    const transport = streamTransport(input, output);
    const received = gather(transport);
    transport.write("bye");
    transport.close();
    transport.close();
    output.resume();
    await once(output, "close");
    const end = await received.closed;
    expect([input.destroyed, output.destroyed, end.closes()]).toEqual([true, true, 1]);
    expect(transport.write("late")).toBe(true);
  });
});

describe("a child process", () => {
  it("is read to its end even when it no longer reads", async () => {
    const { child, exited } = run(
      `require("node:fs").closeSync(0); process.stdout.write("x".repeat(300_000) + "\\nlast words\\n")`,
    );
    const transport = streamTransport(child.stdout, child.stdin);
    const received = gather(transport);
    const timer = setInterval(() => transport.write("anyone there?\n".repeat(1000)), 1);
    const end = await received.closed;
    clearInterval(timer);
    await exited;
    expect(end.text.endsWith("\nlast words\n")).toBe(true);
    expect([end.text.length, end.reason]).toEqual([300_012, undefined]);
  });

  it("that stops reading but lives on is a close", async () => {
    const { child, exited } = run(
      `require("node:fs").closeSync(0); console.log("deaf"); setInterval(() => {}, 1000)`,
    );
    const transport = streamTransport(child.stdout, child.stdin);
    const received = gather(transport);
    const timer = setInterval(() => transport.write("anyone there?\n"), 1);
    const end = await received.closed;
    clearInterval(timer);
    child.kill("SIGKILL");
    await exited;
    expect([end.text, end.reason]).toEqual(["deaf\n", undefined]);
  });

  it("killed in the middle is a close, not an exception", async () => {
    const { child, exited } = run(`setInterval(() => {}, 1000)`);
    const transport = streamTransport(child.stdout, child.stdin);
    const received = gather(transport);
    transport.write("x".repeat(1_000_000));
    child.kill("SIGKILL");
    transport.write("y".repeat(1_000_000));
    expect((await received.closed).reason).toBeUndefined();
    await exited;
  });

  it("sees the end of its input when the transport closes", async () => {
    const { child, exited } = run(`process.stdin.resume().on("end", () => process.exit(7))`);
    const transport = streamTransport(child.stdout, child.stdin);
    gather(transport);
    transport.close();
    expect((await exited)[0]).toBe(7);
  });
});

describe("a socket", () => {
  it("sends what was written before the close, then ends", async () => {
    const [client, served, stop] = await socketPair();
    const transport = streamTransport(served, served);
    const here = gather(transport);
    const there = gather(streamTransport(client, client));
    transport.write("x".repeat(1_000_000));
    transport.close();
    const end = await there.closed;
    expect([end.text.length, end.reason]).toEqual([1_000_000, undefined]);
    expect((await here.closed).closes()).toBe(1);
    stop();
  });

  it("that is reset is a close without a reason", async () => {
    const [client, served, stop] = await socketPair();
    const received = gather(streamTransport(served, served));
    client.resetAndDestroy();
    expect((await received.closed).reason).toBeUndefined();
    stop();
  });

  it("whose other end never reads is destroyed", async () => {
    const [client, served, stop] = await socketPair();
    client.pause();
    const transport = streamTransport(served, served);
    gather(transport);
    while (transport.write("z".repeat(1_000_000))) await new Promise((resolve) => setImmediate(resolve));
    transport.close();
    await once(served, "close");
    client.destroy();
    stop();
  });
});

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const PEER = new URL("../peer.ts", import.meta.url).href;
const STDIO = new URL("./streams.ts", import.meta.url).href;

/** A server over stdio that answers every request with its method, after some noise. */
const SERVER = `
  const { Peer } = await import(${JSON.stringify(PEER)});
  const { stdioTransport } = await import(${JSON.stringify(STDIO)});
  const { log } = console;
  const { stdout } = process;
  const peer = new Peer(stdioTransport(), {
    header: false, lineLimit: 1000, queueLimit: 1000,
    handlers: {
      request: (id, method) => { noise(); peer.reply(id, method); },
      notification: () => {}, bad: () => {},
    },
  });
  function noise() {
    console.log("noise 1"); log("noise 2"); console.info("noise 3"); console.table(["noise 4"]);
    process.stdout.write("noise 5\\n"); stdout.write(Buffer.from("noise 6\\n"), () => {});
    stdout.end("noise 7");
  }
  noise();
  peer.start();
  peer.closed.then(async () => { await peer.outbox.flushed(); peer.close(); });
`;

function startServer(script = SERVER) {
  const child = spawn(process.execPath, [
    "--conditions=@flint/source",
    "--import",
    TSX,
    "--input-type=module",
    "-e",
    script,
  ]);
  children.push(child);
  return { child, exited: once(child, "exit") };
}

it("only the wire reaches stdout, everything else that is printed goes to stderr", async () => {
  const { child, exited } = startServer();
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  child.stdin.end('{"id":1,"method":"one"}\n{"id":2,"method":"two"}');
  expect(await output).toBe('{"id":1,"result":"one"}\n{"id":2,"result":"two"}\n');
  const noise = await errors;
  for (const number of [1, 2, 3, 4, 5, 6]) expect(noise).toContain(`noise ${number}`);
  expect((await exited)[0]).toBe(0);
});

it("a client that stops reading and closes everything does not crash the server", async () => {
  const { child, exited } = startServer();
  child.stdin.on("error", () => {});
  child.stdout.destroy();
  child.stderr.destroy();
  child.stdin.write('{"id":1,"method":"one"}\n'.repeat(100));
  expect(await exited).toEqual([0, null]);
});

it("a process has one stdio connection", async () => {
  const twice = `
    const { stdioTransport } = await import(${JSON.stringify(STDIO)});
    stdioTransport();
    try { stdioTransport(); } catch (error) { process.stderr.write(error.message); }
  `;
  const { child, exited } = startServer(twice);
  expect(await text(child.stderr)).toBe(
    "stdin and stdout already carry a connection; use a socket for a second one",
  );
  await exited;
});
