import { createHash, randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  BROKER_FOLDER,
  type BridgedProgram,
  type BrokeredCommand,
  type CommandBroker,
  isGrantName,
  type ProcessSpec,
  type RunningProcess,
  type WritablePath,
} from "@flint/core/ports";
import { realPathIfAny } from "../../files/path-kinds.ts";
import { BrokeredRun } from "./brokered-run.ts";
import { bridgeCommand, grantCommandLine, makeBrokerFolder, SOCKET_NAME, storeGrant } from "./flint-run.ts";

/** Dependencies of a broker. */
export interface CommandBrokerOptions {
  /** A folder of its own, which no sandbox but those with this broker shows. */
  readonly folder: string;
  /** The Node program that sandboxes show. */
  readonly node: string;
  /** Starts a granted command. */
  start(spec: ProcessSpec): Promise<RunningProcess>;
  /** Resolves a path that a granted command wants to write, or explains why no approval opens it. */
  resolveWritable(path: string, workspace: string): Promise<WritablePath>;
}

/** More callers at once than any agent has commands. */
const MAX_CALLERS = 32;

/** The number of times that a bridged program may run at once: agents connect again before they have disconnected. */
const MAX_BRIDGES = 4;

/** Maximum size of a caller's request, and the time within which it must name its grant. */
const MAX_REQUEST = 16 * 1024;
const REQUEST_MS = 10_000;

/** 256 bits. */
const TOKEN_BYTES = 32;

/**
 * Runs approved commands for an agent that starts its commands itself. A grant is for one command text in one folder, can
 * be used once, and ends with its signal; so does the command. It listens on a socket that only sandboxes with this broker
 * show.
 */
export class UnixCommandBroker implements CommandBroker {
  readonly #options: CommandBrokerOptions;
  readonly #server: Server;
  /** By the digest of their tokens, so that looking one up says nothing about the others. */
  readonly #grants = new Map<string, BrokeredCommand>();
  /** The reason a known grant can no longer be used. */
  readonly #ended = new Map<string, string>();
  readonly #runs = new Map<BrokeredRun, Promise<void>>();
  /** Bridged programs by the digest of their tokens, and the number of runs of each. */
  readonly #programs = new Map<string, { readonly program: BridgedProgram; running: number }>();
  readonly #callers = new Set<Socket>();
  /** The number of callers that use a bridged program. */
  #bridges = 0;

  private constructor(options: CommandBrokerOptions) {
    this.#options = options;
    this.#server = createServer((caller) => this.#accept(caller));
    this.#server.unref();
  }

  /** Listens when this resolves. */
  static async open(options: CommandBrokerOptions): Promise<UnixCommandBroker> {
    await makeBrokerFolder(options.folder);
    const broker = new UnixCommandBroker(options);
    await new Promise<void>((resolve, reject) => {
      broker.#server.once("error", reject);
      broker.#server.listen(join(options.folder, SOCKET_NAME), resolve);
    });
    // A failure of a listening socket concerns single callers, who are cut off.
    broker.#server.on("error", () => undefined);
    return broker;
  }

  /** The mount that a sandbox needs for the grants of this broker to be of use in it. */
  get mount() {
    return { source: this.#options.folder, target: BROKER_FOLDER, writable: false } as const;
  }

  grant(command: BrokeredCommand): string {
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    const key = digest(token);
    const { signal } = command;
    if (!signal.aborted) this.#grants.set(key, command);
    const revoke = () => this.#end(key, "has ended with its turn");
    signal.addEventListener("abort", revoke, { once: true });
    if (signal.aborted) revoke();
    return grantCommandLine(this.#options.node, token);
  }

  async grantAs(name: string, command: BrokeredCommand): Promise<void> {
    if (!isGrantName(name)) throw new Error(`${name} cannot be the name of a grant.`);
    await storeGrant(this.#options.folder, name, this.grant(command));
  }

  bridge(program: BridgedProgram): readonly string[] {
    const token = randomBytes(TOKEN_BYTES).toString("hex");
    const key = digest(token);
    this.#programs.set(key, { program, running: 0 });
    const revoke = () => this.#programs.delete(key);
    program.signal?.addEventListener("abort", revoke, { once: true });
    if (program.signal?.aborted === true) revoke();
    return bridgeCommand(this.#options.node, token);
  }

  resolveWritable(path: string, workspace: string): Promise<WritablePath> {
    return this.#options.resolveWritable(path, workspace);
  }

  async close(): Promise<void> {
    this.#grants.clear();
    this.#programs.clear();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    const runs = [...this.#runs.values()];
    await Promise.all([...this.#runs.keys()].map((run) => run.stop()));
    for (const caller of this.#callers) caller.destroy();
    await Promise.all([closed, ...runs]);
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  #end(key: string, why: string): void {
    this.#grants.delete(key);
    if (!this.#ended.has(key)) this.#ended.set(key, why);
  }

  #accept(caller: Socket): void {
    if (this.#callers.size - this.#bridges >= MAX_CALLERS) {
      caller.destroy();
      return;
    }
    this.#callers.add(caller);
    caller.once("close", () => this.#callers.delete(caller));
    caller.on("error", () => caller.destroy());
    caller.setTimeout(REQUEST_MS, () => caller.destroy());
    let received: Buffer = Buffer.alloc(0);
    const read = (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf("\n");
      if (end < 0 && received.length <= MAX_REQUEST) return;
      caller.off("data", read).pause();
      caller.setTimeout(0);
      // What follows the request is the input of a program.
      if (end >= 0 && end + 1 < received.length) caller.unshift(received.subarray(end + 1));
      const run = new BrokeredRun(caller);
      const served = this.#serve(run, caller, end < 0 ? "" : received.toString("utf8", 0, end));
      this.#runs.set(
        run,
        served.then(() => void this.#runs.delete(run)),
      );
    };
    caller.on("data", read);
  }

  async #serve(run: BrokeredRun, caller: Socket, line: string): Promise<void> {
    const { token, cwd } = requestIn(line);
    const bridged = this.#programs.get(digest(token));
    if (bridged !== undefined) return this.#connect(run, caller, bridged);
    // The end of a caller that sends nothing more is only seen if it is read.
    caller.resume();
    const taken = await this.#take(digest(token), cwd);
    if ("refused" in taken) return run.refuse(taken.refused);
    await run.run(taken.command, (spec) => this.#options.start(spec));
  }

  /** It lasts as long as the agent likes, so it does not count among the callers. */
  async #connect(
    run: BrokeredRun,
    caller: Socket,
    bridged: { readonly program: BridgedProgram; running: number },
  ): Promise<void> {
    if (bridged.running >= MAX_BRIDGES) return run.refuse("This program is running too often already.");
    bridged.running += 1;
    this.#bridges += 1;
    await run.connect(bridged.program);
    bridged.running -= 1;
    this.#bridges -= 1;
    caller.resume();
  }

  /** Takes a grant, so that it cannot be used again. */
  async #take(
    key: string,
    cwd: string,
  ): Promise<{ readonly command: BrokeredCommand } | { readonly refused: string }> {
    const expected = this.#grants.get(key)?.cwd;
    const [real, asked] = await Promise.all([expected ?? "", cwd].map(realPathIfAny));
    const isThere = real === asked && (expected === undefined || real === expected);
    // Taken without a pause in between, so that of two callers one is refused.
    const command = this.#grants.get(key);
    if (command === undefined) return { refused: `This grant ${this.#ended.get(key) ?? "is not known"}.` };
    if (!isThere) {
      const where = real === command.cwd ? `the shell is in ${cwd}` : "that is another folder now";
      return { refused: `This command was approved for the folder ${command.cwd}, and ${where}.` };
    }
    this.#end(key, "was already used; it was for one run only");
    return { command };
  }
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("hex");
}

function requestIn(line: string): { readonly token: string; readonly cwd: string } {
  // Expected: a caller that is not our program.
  try {
    const { token, cwd } = Object(JSON.parse(line));
    return { token: String(token), cwd: String(cwd) };
  } catch {
    return { token: "", cwd: "" };
  }
}
