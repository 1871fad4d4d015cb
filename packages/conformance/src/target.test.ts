import { writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { leavesNoProcess, temporaryFolder } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { isAddress, openTarget, type TargetOptions } from "./target.ts";
import { Wire } from "./wire/wire.ts";

/** A server that says "hello" to every line, on stdin and stdout or at a socket. */
const SERVER = `
import { createServer } from "node:net";
const greet = (input, output) => input.on("data", () => output.write('{"id":1,"result":{"said":"hello"}}\\n'));
const path = process.argv[2]?.replace("unix:", "");
if (path === undefined) greet(process.stdin, process.stdout);
else createServer((socket) => greet(socket, socket)).listen(path);
`;

async function place(): Promise<Omit<TargetOptions, "words"> & { readonly server: string }> {
  leavesNoProcess();
  const { path } = await temporaryFolder();
  const server = `${path}/server.mjs`;
  await writeFile(server, SERVER);
  return { cwd: path, environment: process.env, folder: path, token: undefined, timeoutMs: 20_000, server };
}

async function said(
  options: TargetOptions,
): Promise<{ readonly shared: boolean; readonly answers: unknown[] }> {
  const target = await openTarget(options);
  onTestFinished(() => target.close());
  const wires = [await target.connect(), await target.connect()].map(
    (channel) => new Wire(channel, { header: false, timeoutMs: 20_000 }),
  );
  const answers = await Promise.all(wires.map((wire) => wire.result("x")));
  await Promise.all(wires.map((wire) => wire.close()));
  return { shared: target.shared, answers };
}

const TWICE = [{ said: "hello" }, { said: "hello" }];

describe("a server to try", () => {
  test("is a program that is started for each connection", async () => {
    const { server, ...options } = await place();
    const words = [process.execPath, server] as const;
    expect(await said({ ...options, words })).toEqual({ shared: false, answers: TWICE });
  });

  test("on another machine gets no token in clear", async () => {
    const { server: _, ...options } = await place();
    const token = "t".repeat(40);
    const open = (address: string) => openTarget({ ...options, token, words: [address] });
    await expect(open("ws://flint.invalid:4747")).rejects.toThrow("would carry the token in clear");
    for (const address of ["ws://127.0.0.1:4747", "wss://flint.invalid", "unix:/run/flint.sock"]) {
      await expect(open(address)).resolves.toMatchObject({ label: address });
    }
    const words = [process.execPath, "ws://0.0.0.0:{port}"] as const;
    await expect(openTarget({ ...options, token, words })).rejects.toThrow("in clear");
  });

  test("that does not start is reported with the command line", async () => {
    const { server: _, ...options } = await place();
    const target = await openTarget({ ...options, words: ["no-such-program-anywhere"] });
    const wire = new Wire(await target.connect(), { header: false, timeoutMs: 20_000 });
    const failure = await wire.result("x").catch((error: unknown) => String(error));
    expect(failure).toContain('could not start "no-such-program-anywhere": spawn');
    expect(failure).toContain("must be on PATH, or be given with its full path.");
    expect(failure).not.toContain("spawn.command");
    await wire.close();
  });

  test("is a program that is started once where its address has a place for a socket", async () => {
    const { server, ...options } = await place();
    const words = [process.execPath, server, "unix:{socket}"] as const;
    expect(await said({ ...options, words })).toEqual({ shared: true, answers: TWICE });
  });

  test("is an address where it runs already", async () => {
    const { server: _, ...options } = await place();
    const path = `${options.folder}/running.sock`;
    const running = createServer((socket) => {
      socket.on("data", () => socket.write('{"id":1,"result":{"said":"hello"}}\n'));
    });
    await new Promise<void>((resolve) => running.listen(path, resolve));
    onTestFinished(() => new Promise<void>((resolve) => running.close(() => resolve())));
    expect(await said({ ...options, words: [`unix:${path}`] })).toEqual({ shared: true, answers: TWICE });
  });

  test("that ends before it listens is reported with the end of its stderr", async () => {
    const { server: _, ...options } = await place();
    const words = [
      process.execPath,
      "-e",
      "console.error('no luck'); process.exit(3)",
      "unix:{socket}",
    ] as const;
    const target = await openTarget({ ...options, words });
    await expect(target.connect()).rejects.toThrow(/exited with code 3.*no luck/s);
    await target.close();
  });
});

test("an address is distinguished from a command", () => {
  const addresses = [
    "ws://127.0.0.1:4747",
    "wss://example.org/codex",
    "unix:/run/flint.sock",
    "unix:///run/x",
  ];
  expect(addresses.map(isAddress)).toEqual([true, true, true, true]);
  expect(["codex", "codex app-server", "./ws", "node unix.js"].map(isAddress)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
