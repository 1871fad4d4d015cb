import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type TemporaryFolder, temporaryFolder, WireClient, type WireMessage } from "@flint/testkit";
import { plainEnvironment } from "../server/plain-environment.ts";

/** The built command of this repository. */
export const FLINT = fileURLToPath(new URL("../../packages/cli/bin/flint.cjs", import.meta.url));

/** A server process with a state folder and a workspace of its own. */
export interface TestServer {
  readonly wire: WireClient;
  readonly home: string;
  readonly workspace: string;
  /** Ends it if it runs, and starts another one on the same folders. */
  restart(): Promise<WireClient>;
}

/** Starts `flint serve --stdio` (or another command that serves). */
export async function startServer(
  args: readonly string[] = ["serve", "--stdio"],
  options: { readonly header?: boolean } = {},
): Promise<TestServer> {
  const folder = await temporaryFolder();
  const { home, workspace } = await makeFolders(folder);
  const spawn = (): WireClient =>
    WireClient.spawn([process.execPath, FLINT, ...args], {
      cwd: workspace,
      env: plainEnvironment(home),
      header: options.header ?? false,
    });
  let wire = spawn();
  return {
    wire,
    home,
    workspace,
    async restart() {
      wire.kill("SIGKILL");
      await wire.exited;
      wire = spawn();
      return wire;
    },
  };
}

async function makeFolders(folder: TemporaryFolder): Promise<{ home: string; workspace: string }> {
  const home = folder.join("home");
  const workspace = folder.join("workspace");
  await mkdir(workspace);
  await writeFile(`${workspace}/README.md`, "# Sample\n");
  await writeFile(`${workspace}/notes.txt`, "one\ntwo\n");
  return { home, workspace };
}

/** Initializes a connection of the Flint protocol. */
export async function initialize(wire: WireClient): Promise<WireMessage> {
  const info = await wire.request("initialize", { clientInfo: { name: "e2e", version: "1" } });
  wire.notify("initialized", {});
  return asMessage(info);
}

/** A new thread's id. */
export async function startThread(wire: WireClient, params: object = {}): Promise<string> {
  const { thread } = asMessage(await wire.request("thread/start", params));
  return String(asMessage(thread).id);
}

/** Runs a turn to its end and gives all its messages from its answer on, `turn/completed` last. */
export async function runTurn(wire: WireClient, threadId: string, text: string, params: object = {}) {
  const from = wire.mark;
  await wire.request("turn/start", { threadId, input: [{ type: "text", text }], ...params });
  await wire.waitFor((message) => message.method === "turn/completed", { after: from });
  return wire.messages.slice(from);
}

/** The params of the first message of this method. */
export function paramsOf(messages: readonly WireMessage[], method: string): WireMessage {
  const found = messages.find((message) => message.method === method);
  if (found === undefined)
    throw new Error(`No ${method} among ${messages.map(({ method: name }) => name).join(", ")}`);
  return asMessage(found.params);
}

/** The items that were completed, of a type. */
export function completedItems(messages: readonly WireMessage[], type: string): WireMessage[] {
  return messages
    .filter((message) => message.method === "item/completed")
    .map((message) => asMessage(asMessage(message.params).item))
    .filter((item) => item.type === type);
}

/** A JSON object, or an error that shows what it is instead. */
export function asMessage(value: unknown): WireMessage {
  if (typeof value !== "object" || value === null) throw new Error(`Not an object: ${JSON.stringify(value)}`);
  return value as WireMessage;
}
