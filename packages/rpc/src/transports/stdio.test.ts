import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";

const TSX = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
const PEER = new URL("../peer.ts", import.meta.url).href;
const STDIO = new URL("./stdio.ts", import.meta.url).href;

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

const children: ChildProcess[] = [];

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

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

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
