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

/** The sandbox of one thread: whatever is started in it shares the thread's network and git directory. */
export class ThreadSandbox implements Sandbox {
  readonly #sandbox: Sandbox;
  readonly #scope: () => SandboxScope;

  /** `scope` is asked for each start, because the settings of a thread change. */
  constructor(sandbox: Sandbox, scope: () => SandboxScope) {
    this.#sandbox = sandbox;
    this.#scope = scope;
  }

  state(): Promise<SandboxState> {
    return this.#sandbox.state();
  }

  launch(spec: LaunchSpec): Promise<LaunchResult> {
    return this.#sandbox.launch({ scope: this.#scope(), ...spec });
  }

  start(spec: ProcessSpec): Promise<RunningProcess> {
    return this.#sandbox.start({ scope: this.#scope(), ...spec });
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
