import { join } from "node:path";
import { isRecord } from "@flint/protocol";
import { type LineFault, LineReader } from "@flint/rpc";
import type { FlintClient } from "@flint/sdk";
import type { FleetOptions } from "../fleet/fleet-options.ts";
import { AgmApi } from "./agm-api.ts";
import { ChannelFile, type Channels } from "./channel-file.ts";
import { openEvents } from "./events.ts";
import { AgmError, agmErrorOf } from "./params.ts";

/** Dependencies of serving agm. */
export interface AgmOptions {
  readonly client: FlintClient;
  /** The state folder. */
  readonly root: string;
  readonly cwd: string;
  /** The store of sessions and the sink for events; without one, a file and lines between the answers. */
  readonly fleet?: Pick<FleetOptions, "redis" | "namespace" | "events"> | undefined;
  readonly input: AsyncIterable<Uint8Array | string>;
  /** Resolves once more can be written. */
  write(line: string): Promise<void>;
  onProblem(problem: string): void;
}

const MAX_LINE = 1024 * 1024;

/** Answers requests, one JSON object per line, in their order, until the input ends. */
export async function serveAgm(options: AgmOptions): Promise<void> {
  const { client, cwd, input, write } = options;
  const channels = await openChannels(options);
  const events = await openEvents(options);
  try {
    const api = new AgmApi({ client, channels, events, cwd, now: () => Date.now() });
    const lines: (string | LineFault)[] = [];
    const reader = new LineReader({
      limit: MAX_LINE,
      line: (text) => void lines.push(text),
      fault: (fault) => void lines.push(fault),
    });
    const answerAll = async () => {
      for (const line of lines.splice(0)) {
        await write(`${JSON.stringify(await answerTo(api, line))}\n`);
        // After the answer: a peer that reads a single line gets what it asked for.
        await events.afterAnswer();
      }
    };
    for await (const chunk of input) {
      reader.push(chunk);
      await answerAll();
    }
    reader.end();
    await answerAll();
  } finally {
    await events.close();
    await channels.close();
  }
}

/** Opens the sessions: in Redis in a fleet, so that all of its machines have the same, else in a file. */
async function openChannels({ root, fleet, onProblem }: AgmOptions): Promise<Channels> {
  if (fleet === undefined)
    return ChannelFile.open({ path: join(root, "tasks", "channels.jsonl"), onDamage: onProblem });
  const { RedisChannels } = await import("./redis-channels.ts");
  return RedisChannels.open({ ...fleet, onDamage: onProblem });
}

/** The answer to one line. */
async function answerTo(api: AgmApi, line: string | LineFault): Promise<object> {
  // Expected: whatever a peer can get wrong, or a server that has gone.
  try {
    const { method, params } = requestOf(line);
    return { ok: true, data: await api.call(method, params) };
  } catch (thrown) {
    const { message, code } = agmErrorOf(thrown);
    return { ok: false, error: message, code };
  }
}

function requestOf(line: string | LineFault): Readonly<Record<string, unknown>> {
  if (typeof line !== "string") {
    const what = line.kind === "oversize" ? `longer than ${MAX_LINE} bytes` : "not UTF-8";
    throw new AgmError("INVALID_PARAMS", `The line is ${what}.`);
  }
  const request = parsed(line);
  if (isRecord(request)) return request;
  throw new AgmError("INVALID_PARAMS", 'A request is one line of JSON: {"method": "…", "params": {…}}.');
}

function parsed(line: string): unknown {
  // Expected: a line that is not JSON.
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
