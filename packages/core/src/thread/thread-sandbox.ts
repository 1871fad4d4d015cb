import { hostRulesOverlap, type SandboxState } from "@flint/protocol";
import type {
  ClientTerminal,
  CommandBroker,
  CommitOffer,
  Denial,
  EndedCommand,
  LaunchResult,
  LaunchSpec,
  ProcessSpec,
  RunningProcess,
  Sandbox,
  SandboxScope,
  WritablePath,
} from "../ports/index.ts";

type Variables = Readonly<Record<string, string>>;

/** Options that hold for everything that is started in the sandbox of a thread. */
export interface ThreadSandboxOptions {
  /** Hosts that no command may connect to. A program's own hosts that overlap with them are decided about like any other. */
  readonly deniedHosts?: readonly string[];
  /** The variables that keep git from running what an untrusted repository names. */
  gitVariables?(cwd: string): Promise<Variables>;
  /** Returns further environment variables for every program of the thread. */
  variables?(): Variables;
  /**
   * Returns the client's terminal for commands that nothing would confine here; undefined if there is none.
   */
  terminal?(): ClientTerminal | undefined;
}

/**
 * The sandbox of one thread: whatever is started in it shares the thread's network and git directory, and its git runs
 * nothing that an untrusted repository names.
 */
export class ThreadSandbox implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #scope: () => SandboxScope;
  readonly #deniedHosts: readonly string[];
  readonly #variables: (cwd: string) => Promise<Variables>;
  readonly #terminal: () => ClientTerminal | undefined;

  /** `scope` and the variables are asked for at each start, because the settings of a thread change. */
  constructor(sandbox: Sandbox, scope: () => SandboxScope, options: ThreadSandboxOptions = {}) {
    this.#sandbox = sandbox;
    this.#scope = scope;
    this.#deniedHosts = options.deniedHosts ?? [];
    this.#variables = async (cwd) => ({
      ...options.variables?.(),
      ...(await options.gitVariables?.(cwd)),
    });
    this.#terminal = () => options.terminal?.();
  }

  state(): Promise<SandboxState> {
    return this.#sandbox.state();
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    const environment = { ...spec.environment, ...(await this.#variables(spec.workspace)) };
    const { itemId } = spec;
    const terminal = itemId !== undefined && isOutside(spec) ? this.#terminal() : undefined;
    if (itemId !== undefined && terminal !== undefined) return terminal.run({ ...spec, itemId, environment });
    return this.#sandbox.launch({ scope: this.#scope(), ...spec, environment });
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    const environment = { ...spec.environment, ...(await this.#variables(spec.workspace)) };
    const isDenied = (host: string) => this.#deniedHosts.some((denied) => hostRulesOverlap(denied, host));
    const hosts = spec.hosts === undefined ? {} : { hosts: spec.hosts.filter((host) => !isDenied(host)) };
    return this.#sandbox.start({ scope: this.#scope(), ...spec, ...hosts, environment });
  }

  /** The inspections of ended commands and of files that the sandbox offers. */
  get inspections(): Pick<Sandbox, "denials" | "unprotectedFiles"> {
    const { denials, unprotectedFiles } = this.#sandbox;
    return {
      ...(denials && { denials: (command) => this.denials(command) }),
      ...(unprotectedFiles && { unprotectedFiles: (folders) => this.unprotectedFiles(folders) }),
    };
  }

  async denials(command: EndedCommand): Promise<readonly Denial[]> {
    return (await this.#sandbox.denials?.({ scope: this.#scope(), ...command })) ?? [];
  }

  async unprotectedFiles(folders: readonly string[]): Promise<readonly string[]> {
    return (await this.#sandbox.unprotectedFiles?.(folders)) ?? [];
  }

  async resolveWritable(path: string, workspace: string): Promise<WritablePath> {
    const unknown: WritablePath = { problem: "this sandbox cannot open further folders for one command" };
    return (await this.#sandbox.resolveWritable?.(path, workspace)) ?? unknown;
  }

  /** A broker whose commands share what the thread's commands share. */
  async openBroker(): Promise<CommandBroker | undefined> {
    return this.#sandbox.openBroker?.((spec) => this.start(spec));
  }

  /** Returns the commits of the thread's agent; undefined if there is nothing to take over. */
  async commits(): Promise<CommitOffer | undefined> {
    return this.#sandbox.commits?.(this.#scope().id);
  }

  /** Shows the thread's agent what the user committed since. Never rejects. */
  async refreshScope(): Promise<void> {
    await this.#sandbox.refreshScope?.(this.#scope().id);
  }

  /** Removes what the thread's commands shared. */
  async closeScope(): Promise<void> {
    await this.#sandbox.closeScope?.(this.#scope().id);
  }
}

/**
 * Reports whether nothing confines a command. An external sandbox does, and a client's terminal need not be
 * in it.
 */
function isOutside({ policy, permission }: LaunchSpec): boolean {
  return policy.type === "dangerFullAccess" || permission?.unconfined === true;
}
