import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { RUN_FILES } from "@flint/protocol";
import { connect, readRunningServer, rendezvousTransport } from "@flint/sdk";
import { TestClock, temporaryFolder, testEngine } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { OpenServer } from "./testing/open-server.ts";

/** A server that is found by its state folder, at a port and at a socket. */
async function open() {
  const { path: folder } = await temporaryFolder();
  const { engine } = testEngine();
  const kit = { engine, folder, clock: new TestClock(), atEnd: onTestFinished };
  const server = await OpenServer.start(kit, { presence: { folder, cwd: "/server" } });
  return { folder, server, url: `ws://127.0.0.1:${server.port}` };
}

/** Returns the folder of a thread that names none. */
async function folderOf(options: Parameters<typeof connect>[0]): Promise<string> {
  const client = await connect(options);
  onTestFinished(() => client.close());
  return (await client.startThread({})).state.thread.cwd;
}

describe("connect() of the SDK", () => {
  test("joins the server of a state folder; threads work in the given or the current folder", async () => {
    const { folder } = await open();
    expect(await folderOf({ home: folder })).toBe(process.cwd());
    expect(await folderOf({ home: folder, cwd: "/mine" })).toBe("/mine");
  });

  test("joins a server on a socket", async () => {
    const { server } = await open();
    expect(await folderOf({ socket: server.socketPath })).not.toBe("");
  });

  test("joins a server by URL with a token: given, from a file, or of this machine", async () => {
    const { folder, server, url } = await open();
    for (const place of [
      { url, token: server.token },
      { url, tokenFile: server.tokenPath },
      { url, home: folder },
      { url: `${url}/flint`, home: folder },
    ]) {
      expect(await folderOf(place)).not.toBe("");
    }
    await expect(connect({ url, token: "wrong" })).rejects.toMatchObject({ name: "FlintConnectionError" });
    await expect(connect({ url })).rejects.toMatchObject({ kind: "closed" });
  });

  test("sends no token unencrypted to another machine, and never this machine's own", async () => {
    const { folder } = await open();
    const away = "ws://flint.example.org:4747";
    await expect(connect({ url: away, token: "secret" })).rejects.toThrow("in clear");
    const asked: unknown[] = [];
    class Watching {
      readonly readyState = 3;
      constructor(...given: unknown[]) {
        asked.push(given);
      }
      send(): void {}
      close(): void {}
      addEventListener(type: string, listener: (event: { readonly data: unknown }) => void): void {
        if (type === "close") queueMicrotask(() => listener({ data: "" }));
      }
    }
    await expect(connect({ url: away, home: folder, webSocket: Watching })).rejects.toThrow();
    expect(asked).toEqual([[`${away}/flint`, { headers: {} }]]);
    await expect(connect({ url: "http://127.0.0.1:1" })).rejects.toThrow("ws:// or wss://");
  });

  test("reports that no server is running, also if others could have written the file", async () => {
    const { path } = await temporaryFolder();
    await expect(connect({ home: path })).rejects.toThrow("No server is running for");
    const { folder } = await open();
    rmSync(`${folder}/${RUN_FILES.server}`);
    mkdirSync(`${path}/${RUN_FILES.folder}`);
    writeFileSync(`${path}/${RUN_FILES.server}`, "{}", { mode: 0o666 });
    expect(readRunningServer(path)).toBeUndefined();
    await expect(connect({ home: folder })).rejects.toThrow("No server is running for");
  });

  test("rejects with the reason of the server", async () => {
    const { folder } = await open();
    const socket = readRunningServer(folder)?.socket ?? "";
    const transport = rendezvousTransport(socket, { protocol: "kitchen" });
    await expect(connect({ transport })).rejects.toThrow('Unknown protocol "kitchen"');
    const path = `${folder}/other.sock`;
    const other = createServer((caller) => caller.end("HTTP/1.1 400 Bad Request\n"));
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.listen(path, resolve));
    const astray = connect({ transport: rendezvousTransport(path, { protocol: "flint" }) });
    await expect(astray).rejects.toThrow("not a Flint server");
  });
});
