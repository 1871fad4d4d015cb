import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  client,
  ndJsonStream,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import { FLINT } from "../server.ts";

/** The folder and the name of an editor, and the options of the command that it starts. */
export interface EditorOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly name?: string;
  readonly flags?: readonly string[];
  /** The kind of the option that the user chooses; without such an option it is cancelled. */
  choose(request: RequestPermissionRequest): Promise<string>;
}

/** The official client with the built command as its agent; it ends with the test at the latest. */
export async function startEditor({ cwd, env, name = "e2e", flags = [], choose }: EditorOptions) {
  const child = spawn(process.execPath, [FLINT, "acp", "--offline", ...flags], {
    cwd,
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  onTestFinished(() => void child.kill("SIGKILL"));
  const updates: SessionUpdate[] = [];
  const app = client({ name: "e2e" })
    .onNotification("session/update", ({ params }) => void updates.push(params.update))
    .onRequest("session/request_permission", async ({ params }) => {
      const kind = await choose(params);
      const option = params.options.find((offered) => offered.kind === kind);
      if (option === undefined) return { outcome: { outcome: "cancelled" } };
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    });
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin),
    Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
  );
  const { agent } = app.connect(stream);
  const clientInfo = { name, version: "1" };
  await agent.request("initialize", { protocolVersion: 1, clientCapabilities: {}, clientInfo });
  const leave = () => {
    child.stdin.end();
    return exited;
  };
  return { agent, updates, leave };
}

/** The params of a prompt. */
export function promptOf(sessionId: string, text: string) {
  return { sessionId, prompt: [{ type: "text" as const, text }] };
}
