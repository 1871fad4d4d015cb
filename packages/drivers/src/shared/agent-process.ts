import type { PrivateFolder, RunningProcess, Sandbox } from "@flint/core/ports";
import { FlintError, LIMITS, type SandboxPolicy } from "@flint/protocol";
import { LastWords, LineReader, Outbox, streamTransport, type Trace, type Transport } from "@flint/rpc";

/** What is started, and where. */
export interface AgentProcessSpec {
  /** What people call the agent. */
  readonly name: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** The folder that the policy calls the workspace, if it is not the one it is started in. */
  readonly workspace?: string;
  readonly policy: SandboxPolicy;
  readonly environment: Readonly<Record<string, string>>;
  readonly sandbox: Sandbox;
  /** Where it keeps its own state: writable under every policy. */
  readonly ownPaths?: readonly string[];
  /** Where it sees its settings and changes nothing else for good. */
  readonly privateFolders?: readonly PrivateFolder[];
  /** What it may not write wherever it lies. */
  readonly readOnlyPaths?: readonly string[];
}

/** How an agent's process ended. */
export interface AgentExit {
  readonly exitCode: number;
  /** Its last lines on stderr, at most twenty. */
  readonly lastWords: string;
}

/**
 * The process of an agent. It and all it starts die with Flint, whatever way Flint ends. Talk to it by lines, or hand
 * `transport` to a JSON-RPC peer; not both.
 */
export class AgentProcess {
  readonly name: string;
  readonly transport: Transport;
  /** Settles when nothing of it is left; never rejects. */
  readonly exited: Promise<AgentExit>;
  readonly #running: RunningProcess;

  private constructor(name: string, running: RunningProcess) {
    this.name = name;
    this.#running = running;
    const words = new LastWords(running.stderr);
    this.transport = streamTransport(running.stdout, running.stdin);
    this.exited = running.exited.then(async ({ exitCode }) => {
      await words.ended;
      return { exitCode, lastWords: words.lines };
    });
  }

  /** Starts it. Rejects with a FlintError if it cannot be started or not be confined as asked. */
  static async start(spec: AgentProcessSpec): Promise<AgentProcess> {
    const { name, command, cwd, workspace = cwd, policy, environment, sandbox } = spec;
    const { ownPaths = [], privateFolders = [], readOnlyPaths = [] } = spec;
    const process = { command, cwd, workspace, policy, environment };
    // An agent that cannot reach its model is none.
    const running = await sandbox.start({
      ...process,
      ownPaths,
      privateFolders,
      readOnlyPaths,
      network: true,
    });
    return new AgentProcess(name, running);
  }

  /** Ends it and all it started, in time or after a moment. Resolves when nothing of it is left. */
  stop(graceMs?: number): Promise<void> {
    return this.#running.stop(graceMs);
  }

  /** What its end means for whoever needed it. */
  async failure(): Promise<FlintError> {
    const { exitCode, lastWords } = await this.exited;
    const said = lastWords === "" ? "" : ` It last said:\n${lastWords}`;
    return new FlintError("agentFailed", `${this.name} ended with exit code ${exitCode}.${said}`, {
      exitCode,
    });
  }
}

/** What happens on the wire of an agent that speaks plain lines. */
export interface LineHandlers {
  line(text: string): void;
  /** A line that is too long or not UTF-8; it is left out. */
  fault(message: string): void;
  closed(reason: Error | undefined): void;
}

/** The lines to and from an agent. While it does not take what it is sent, it is not read either. */
export class AgentLines {
  readonly #outbox: Outbox;
  readonly #trace: Trace | undefined;

  constructor(transport: Transport, handlers: LineHandlers, trace: Trace | undefined) {
    this.#trace = trace;
    this.#outbox = new Outbox(transport, { limit: LIMITS.clientQueue });
    this.#outbox.onFull(() => transport.pause());
    this.#outbox.onRelief(() => transport.resume());
    const reader = new LineReader({
      limit: LIMITS.line,
      line: (text) => {
        trace?.("in", "raw", text);
        handlers.line(text);
      },
      fault: (fault) => handlers.fault(fault.kind),
    });
    transport.start({
      chunk: (chunk) => reader.push(chunk),
      closed: (reason) => {
        reader.end();
        handlers.closed(reason);
      },
    });
  }

  /** Sends one line. */
  send(line: string): void {
    this.#trace?.("out", "raw", line);
    this.#outbox.send(line);
  }
}
