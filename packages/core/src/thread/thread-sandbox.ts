import type { SandboxState } from "@flint/protocol";
import type {
  CommitOffer,
  LaunchResult,
  LaunchSpec,
  ProcessSpec,
  RunningProcess,
  Sandbox,
  SandboxScope,
} from "../ports/index.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The sandbox of one thread: whatever is started in it shares the thread's network and git directory, and its git runs
 * nothing that an untrusted repository names.
 */
export class ThreadSandbox implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #scope: () => SandboxScope;

  readonly #gitVariables: (cwd: string) => Promise<Variables>;

  /** `scope` is asked for each start, because the settings of a thread change, and so are the variables for git. */
  constructor(
    sandbox: Sandbox,
    scope: () => SandboxScope,
    gitVariables: (cwd: string) => Promise<Variables> = async () => ({}),
  ) {
    this.#sandbox = sandbox;
    this.#scope = scope;
    this.#gitVariables = gitVariables;
  }

  state(): Promise<SandboxState> {
    return this.#sandbox.state();
  }

  async launch(spec: LaunchSpec): Promise<LaunchResult> {
    const environment = { ...spec.environment, ...(await this.#gitVariables(spec.workspace)) };
    return this.#sandbox.launch({ scope: this.#scope(), ...spec, environment });
  }

  async start(spec: ProcessSpec): Promise<RunningProcess> {
    const environment = { ...spec.environment, ...(await this.#gitVariables(spec.workspace)) };
    return this.#sandbox.start({ scope: this.#scope(), ...spec, environment });
  }

  /** What the thread's agent committed; undefined if there is nothing to take over. */
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
