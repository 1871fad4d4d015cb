import { type Action, type Decision, describePermission, type Permission } from "@flint/protocol";
import type { Clock, Denial, EndedCommand, RefusedConnection } from "../ports/index.ts";
import { rerunAction, rerunPermission } from "./rerun.ts";

/** A command that an agent ran in its own process, as its item shows it. */
export interface EndedItem {
  readonly itemId: string;
  readonly command: string;
  readonly cwd: string;
  readonly exitCode: number;
  readonly output: string;
  readonly ranMs: number;
}

/** Dependencies for finding stopped commands and offering to run them again. */
export interface StoppedCommandsOptions {
  readonly clock: Clock;
  /** The sandbox that the agent's commands run in. */
  sandbox(): Pick<EndedCommand, "policy" | "workspace">;
  denials(command: EndedCommand): Promise<readonly Denial[]>;
  /** Returns the connections that were refused to the command of an item so far. */
  refused(itemId: string): readonly RefusedConnection[];
  /** Reports whether a command that is run again gets what was granted to it. */
  canGrant(): boolean;
  approve(action: Action): Promise<Decision>;
  /** Allows exactly this command once, with what it needs. */
  grantOnce(action: Action): Promise<void>;
}

/** Looking at paths takes microseconds, unless one of them is on a file system that does not answer. */
const LOOK_MS = 2_000;

/** An explanation of a stopped command for the model. */
export interface Explanation {
  readonly text: string;
  /** True if the user has allowed it to run again with what it needs. */
  readonly isAllowed: boolean;
}

/** An offer to the user to run a command again, with the answer. */
interface Offer {
  readonly needs: Permission;
  readonly decision: Decision;
}

/**
 * The commands of a turn that the sandbox stopped, of an agent that runs them itself. Each is looked at once, and offered
 * again at most once; only the agent can run it again.
 */
export class StoppedCommands {
  readonly #options: StoppedCommandsOptions;
  readonly #found = new Map<string, Promise<readonly Denial[]>>();

  constructor(options: StoppedCommandsOptions) {
    this.#options = options;
  }

  /**
   * Returns sentences on what the sandbox kept a command from; empty if it did not stop it. Never rejects.
   */
  async evidence(ended: EndedItem): Promise<readonly string[]> {
    return (await this.#look(ended)).map(({ evidence }) => evidence);
  }

  /**
   * Asks the user whether a stopped command may run again with what it needs, if that can be granted. Undefined if the
   * sandbox did not stop the command. Never rejects.
   */
  async explain(ended: EndedItem): Promise<Explanation | undefined> {
    const denials = await this.#look(ended);
    if (denials.length === 0) return undefined;
    const offer = await this.#offer(ended, denials);
    const evidence = denials.map((denial) => denial.evidence).join(" ");
    const answer = offer === undefined ? "" : ` ${answerText(offer)}`;
    const text = `Flint's sandbox stopped the command \`${ended.command}\`: ${evidence}${answer}`;
    return { text, isAllowed: offer?.decision.outcome === "allow" };
  }

  #look(ended: EndedItem): Promise<readonly Denial[]> {
    const known = this.#found.get(ended.itemId);
    if (known !== undefined) return known;
    const found = this.#denials(ended);
    this.#found.set(ended.itemId, found);
    return found;
  }

  #denials({ itemId, exitCode, output, cwd }: EndedItem): Promise<readonly Denial[]> {
    const { clock, refused, sandbox } = this.#options;
    const command = { exitCode, output, cwd, refused: refused(itemId), ...sandbox() };
    return new Promise((resolve) => {
      const cancel = clock.after(LOOK_MS, () => resolve([]));
      const looked = this.#options.denials(command).catch(() => []);
      void looked.then(resolve).finally(cancel);
    });
  }

  async #offer(ended: EndedItem, denials: readonly Denial[]): Promise<Offer | undefined> {
    const { policy } = this.#options.sandbox();
    const stopped = { ...ended, policy, denials };
    const needs = rerunPermission(stopped);
    if (needs === undefined || !isGrantable(needs) || !this.#options.canGrant()) return undefined;
    const action = rerunAction(stopped, needs);
    const decision = await this.#options.approve(action);
    if (decision.outcome === "allow" && decision.scope === "once") await this.#options.grantOnce(action);
    return { needs, decision };
  }
}

/** Hosts are asked about while a command runs, so only the rest is granted for its next run. */
function isGrantable({ network, write = [] }: Permission): boolean {
  return network === undefined || network === "none" ? write.length > 0 : network === "all";
}

function answerText({ needs, decision: { outcome, message } }: Offer): string {
  const what = describePermission(needs);
  if (outcome === "allow")
    return `The user has now allowed this command to ${what}. Run exactly the same command again if you still need it; it may have done part of its work already.`;
  return `It is not allowed to ${what}. ${message ?? "The user declined it."} Do not work around this.`;
}
