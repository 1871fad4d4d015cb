import { lstat } from "node:fs/promises";
import { homedir } from "node:os";
import {
  type CommandBroker,
  type PrivateFolder,
  type RunningProcess,
  type Sandbox,
  SYSTEM_CLOCK,
} from "@flint/core/ports";
import { FlintError, hostRuleProblem, isUnconfined, type SandboxPolicy } from "@flint/protocol";
import type { Transport } from "@flint/rpc";
import { StderrTail, streamTransport } from "@flint/rpc/node";
import type { AgentFolder } from "./folders/agent-folders.ts";
import { type AgentThread, agentPaths, modelAddresses, sessionPlace } from "./folders/agent-paths.ts";
import type { AgentKeys } from "./keys/agent-keys.ts";
import { ThreadSessions } from "./sessions/thread-sessions.ts";

/** The program to start, and its folders. */
export interface AgentProcessSpec {
  /** The agent's name in messages. */
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** The workspace of the sandbox policy, if it is not `cwd`. */
  readonly workspace?: string;
  readonly policy: SandboxPolicy;
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  /** Host rules that it connects to without a question, beside the addresses in its environment and its settings. */
  readonly hosts: readonly string[];
  /** The agent's own folders, of which it writes only its sessions and its login. */
  readonly folders: readonly AgentFolder[];
  /** The thread on whose sessions it works; it stores none without a thread. */
  readonly thread?: (Omit<AgentThread, "cwd"> & SessionIds) | undefined;
  /** Paths of the project that it sees empty, because they are not trusted. */
  readonly maskedPaths?: readonly string[];
  /** Folders of the project of which it sees a private version. */
  readonly projectFolders?: readonly PrivateFolder[];
  /** The user's home folder, if it is not that of the environment. */
  readonly home?: string;
  /** Keys in its environment that it does not get, and its commands neither; absent if there are none. */
  readonly keys?: AgentKeys | undefined;
}

/** Sessions that an agent's process starts with. */
export interface SessionIds {
  /** Those of the thread. One that is begun under a known id is among them. */
  readonly resumed?: readonly (string | undefined)[];
  /** Those that it copies. */
  readonly copied?: readonly (string | undefined)[];
}

/** The access of an agent's process to sessions. */
export interface AgentSessions {
  /** Makes a session of the thread available, as far as there is one. */
  resume(id: string): Promise<void>;
  /** Makes a session available to be copied. */
  copy(id: string): Promise<void>;
  /** Reports whether a session that the agent says it has begun can be its own. */
  claim(id: string): Promise<boolean>;
  /** Stores what was written so far where the agent finds it outside of the sandbox. Never rejects. */
  publish(): Promise<void>;
  /** Returns the reasons why sessions of the thread were not published; empty after the first call. */
  takeProblems(): Promise<readonly string[]>;
}

/**
 * Host rules for the addresses in an agent's variables and settings, such as that of its model. They come from the user; arguments may
 * contain text of the workspace.
 */
export function hostsIn(values: readonly string[]): string[] {
  const addresses = values.flatMap((value) => value.match(/https?:\/\/[\w.:[\]-]+/g) ?? []);
  const rules = addresses.flatMap((address) => {
    if (!URL.canParse(address)) return [];
    const { protocol, hostname, port } = new URL(address);
    const host = LOOPBACK.has(hostname) ? "localhost" : hostname;
    return [`${host}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`];
  });
  return [...new Set(rules)].filter((rule) => hostRuleProblem(rule) === undefined);
}

const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Interval at which an agent is checked for an open output. */
const LOOK_MS = 3_000;

/** The outcome of an agent's process. */
export interface AgentExit {
  readonly exitCode: number;
  /** The last lines that it wrote to stderr, at most twenty. */
  readonly lastLines: string;
}

/**
 * The process of an agent, whichever it is: its sandbox, its network and its own folders are decided here and nowhere else.
 * It and everything it starts ends with Flint, in whatever way Flint ends.
 */
export class AgentProcess {
  readonly name: string;
  readonly transport: Transport;
  /** Resolves once every process is gone; never rejects. */
  readonly exited: Promise<AgentExit>;
  /** Runs single commands of the agent beyond its sandbox; undefined if it has none, or none can be had. */
  readonly broker: CommandBroker | undefined;
  readonly sessions: AgentSessions;
  readonly #running: RunningProcess;
  readonly #cleaned: Promise<void>;
  #hasClosedOutput = false;

  private constructor(
    name: string,
    running: RunningProcess,
    broker: CommandBroker | undefined,
    sessions: AgentSessions,
    clean: () => Promise<void>,
  ) {
    this.name = name;
    this.sessions = sessions;
    this.broker = broker;
    this.#running = running;
    const stderr = new StderrTail(running.stderr);
    this.transport = streamTransport(running.stdout, running.stdin);
    this.#watchOutput();
    this.#cleaned = running.exited.then(clean);
    this.exited = running.exited.then(async ({ exitCode }) => {
      await Promise.all([stderr.ended, broker?.close(), this.#cleaned]);
      return { exitCode, lastLines: stderr.lines };
    });
  }

  /** Rejects with a FlintError if it cannot be started, or not in the sandbox that it should be in. */
  static async start(spec: AgentProcessSpec): Promise<AgentProcess> {
    if (spec.keys !== undefined) return AgentProcess.#startWithout(spec.keys, spec);
    const { name, command, cwd, workspace = cwd, policy, folders, sandbox } = spec;
    const { maskedPaths = [], projectFolders = [] } = spec;
    const hidden = isUnconfined(policy) ? await existing(maskedPaths) : [];
    if (hidden.length > 0) throw cannotHide(name, hidden);
    const home = spec.home ?? spec.environment.HOME ?? homedir();
    const isConfined = !isUnconfined(policy);
    const thread = isConfined ? spec.thread && { ...spec.thread, cwd: workspace } : undefined;
    const {
      environment: added,
      sandboxed,
      sessions: threadSessions,
      clean,
      ...paths
    } = await agentPaths(folders, spec.environment, home, thread);
    const environment = { ...spec.environment, ...added, ...(isConfined ? sandboxed : {}) };
    const process = { command, cwd, workspace, policy, environment };
    // Every agent has to reach its model.
    const addresses = isConfined ? await modelAddresses(folders, spec.environment, home) : [];
    const hosts = [...spec.hosts, ...hostsIn([...Object.values(environment), ...addresses])];
    let broker: CommandBroker | undefined;
    // If it cannot be started, nothing is left of its broker and its sessions.
    try {
      const sessions = threadSessions ?? sharedSessions(spec, home);
      await makeAvailable(sessions, spec.thread);
      broker = isConfined ? await sandbox.openBroker?.() : undefined;
      const privateFolders = [...paths.privateFolders, ...projectFolders];
      const running = await sandbox.start({
        ...{ ...process, ...paths, privateFolders },
        ...{ hosts, maskedPaths, broker },
      });
      return new AgentProcess(name, running, broker, sessions, isConfined ? clean : async () => undefined);
    } catch (thrown) {
      await Promise.all([broker?.close(), isConfined ? clean() : undefined]);
      throw thrown;
    }
  }

  /** Starts it with stand-ins for its keys, which a relay replaces as long as it runs. */
  static async #startWithout(keys: AgentKeys, spec: AgentProcessSpec): Promise<AgentProcess> {
    const { relayKeys } = await import("./keys/agent-keys.ts");
    const { close, ...start } = await relayKeys(keys);
    try {
      const process = await AgentProcess.start({ ...spec, ...start, keys: undefined });
      void process.exited.then(close);
      return process;
    } catch (thrown) {
      await close();
      throw thrown;
    }
  }

  /** Stops it and everything it started, after `graceMs` by force. Resolves once every process is gone, and its sessions are stored. */
  async stop(graceMs?: number): Promise<void> {
    await this.#running.stop(graceMs);
    await this.#cleaned;
  }

  /** The error for everything that still needed the process, once it has ended. */
  async failure(): Promise<FlintError> {
    const { exitCode } = await this.exited;
    const how = this.#hasClosedOutput
      ? "closed its output while it was still running, and was stopped"
      : `ended with exit code ${exitCode}`;
    const message = `${this.name} ${how}.${await this.lastLines()}`;
    return new FlintError("agentFailed", message, { exitCode });
  }

  /** Ends the output of a program that has closed it and lives on, which its sandbox would hide. */
  #watchOutput(): void {
    const { stdout } = this.#running;
    const cancel = SYSTEM_CLOCK.after(LOOK_MS, () => {
      stdout.off("close", cancel);
      if (stdout.destroyed || stdout.readableEnded) return;
      this.#hasClosedOutput = this.#running.isOutputOpen?.() === false;
      if (this.#hasClosedOutput) stdout.destroy();
      else this.#watchOutput();
    });
    stdout.once("close", cancel);
  }

  /** A sentence with the last lines on stderr, once it has ended; empty if there are none. */
  async lastLines(): Promise<string> {
    const { lastLines } = await this.exited;
    return lastLines === "" ? "" : ` Its last output:\n${lastLines}`;
  }
}

async function makeAvailable(
  sessions: AgentSessions,
  { resumed = [], copied = [] }: SessionIds = {},
): Promise<void> {
  for (const id of resumed) if (id !== undefined) await sessions.resume(id);
  for (const id of copied) if (id !== undefined) await sessions.copy(id);
}

/** An agent without a sandbox works on all sessions. Those that another one in a sandbox works on are published first. */
function sharedSessions(
  { folders, environment, thread, workspace, cwd }: AgentProcessSpec,
  home: string,
): AgentSessions {
  const place = sessionPlace(folders, environment, home, thread?.stateFolder);
  const publish = async (id: string) => {
    if (place !== undefined && thread?.stateFolder !== undefined)
      await ThreadSessions.publish({ ...place, cwd: workspace ?? cwd }, id);
  };
  return {
    resume: publish,
    copy: publish,
    claim: async () => true,
    publish: async () => {},
    takeProblems: async () => [],
  };
}

/** Without a sandbox nothing can be hidden from it. */
function cannotHide(name: string, paths: readonly string[]): FlintError {
  const message = `${name} was not started: ${paths.join(", ")} would steer it and is not trusted. Review it with flint trust, or choose --sandbox workspace-write.`;
  return new FlintError("agentFailed", message, { paths: [...paths] });
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    paths.map((path) =>
      lstat(path).then(
        () => true,
        () => false,
      ),
    ),
  );
  return paths.filter((_, at) => found[at]);
}
