import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { connect, type FlintClient } from "@flint/sdk";
import { temporaryFolder, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { connectRemote } from "../../packages/server/src/listeners/remote.ts";
import { plainEnvironment } from "../server/plain-environment.ts";
import { FLINT } from "./server.ts";

/** A state folder and a workspace in which to run the command. */
export class ServerFixture {
  readonly home: string;
  readonly workspace: string;

  private constructor(home: string, workspace: string) {
    this.home = home;
    this.workspace = workspace;
  }

  static async make(): Promise<ServerFixture> {
    const folder = await temporaryFolder();
    await mkdir(folder.join("workspace"));
    return new ServerFixture(folder.join("home"), folder.join("workspace"));
  }

  /** Starts a command with a client on its stdin and stdout. */
  wire(
    args: readonly string[],
    cwd = this.workspace,
    variables: Readonly<Record<string, string>> = {},
  ): WireClient {
    const env = { ...plainEnvironment(this.home), ...variables };
    return WireClient.spawn([process.execPath, FLINT, ...args], { cwd, env });
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], input = ""): Promise<{ code: number | null; out: string; err: string }> {
    const env = { ...process.env, ...plainEnvironment(this.home) };
    const child = spawn(process.execPath, [FLINT, ...args], { cwd: this.workspace, env });
    onTestFinished(() => void child.kill("SIGKILL"));
    let [out, err] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => (err += bytes));
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
    return { code, out, err };
  }

  /** Starts a server and resolves once it has printed the addresses of its listeners. */
  async listening(args: readonly string[]): Promise<{ wire: WireClient; addresses: string[] }> {
    const wire = this.wire(["serve", "--json", ...args]);
    const listeners = args.filter((argument) => argument === "--listen").length;
    const lines = (): string[] => wire.stderr.split("\n").filter((line) => line.startsWith("{"));
    await Promise.race([until(() => lines().length === listeners), rejectOnExit(wire)]);
    return { wire, addresses: lines().map((line) => JSON.parse(line).listening) };
  }

  /** Connects a client over a WebSocket. */
  async client(url: string): Promise<FlintClient> {
    const given = { protocol: undefined, tokenFile: undefined, token: undefined };
    const remote = await connectRemote({ url: `${url}/flint`, ...given, folder: this.home });
    if (!remote.ok) throw new Error(remote.reason);
    const client = await connect({ transport: remote.transport, onApproval: () => new Promise(() => {}) });
    onTestFinished(() => client.close());
    return client;
  }
}

/** Polls until a condition holds that emits no event. */
export async function until(holds: () => boolean): Promise<void> {
  await expect.poll(holds, { timeout: 25_000, interval: 20 }).toBe(true);
}

/** Rejects when the command has ended. */
export async function rejectOnExit(wire: WireClient): Promise<never> {
  const { code } = await wire.exited;
  throw new Error(`The server ended with ${code}: ${wire.stderr}`);
}

/** Resolves once the server of a state folder is registered there. */
export async function serverInfo(fixture: ServerFixture): Promise<{ pid: number }> {
  const path = `${fixture.home}/run/server.json`;
  await until(() => existsSync(path));
  return JSON.parse(readFileSync(path, "utf8"));
}
