import type { AccountListener, Sandbox } from "@flint/core/ports";
import { FlintError } from "@flint/protocol";
import { type AgentProgram, outsideCommand } from "../shared/agent.ts";
import { TerminalAccount } from "../shared/fixed-account.ts";
import { CLAUDE } from "./descriptor.ts";

const LOGOUT = ["auth", "logout"];

/** Removing a login takes Claude a second; longer, and something is wrong with it. */
const LOGOUT_MS = 30_000;

/** Maximum length of the output of a failed logout in a message. */
const MAX_OUTPUT = 2_000;

/** Variables that hold a credential, which a logout cannot remove. */
const CREDENTIALS = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

/** The account of Claude Code. A login needs its terminal; to log out, it has a command that asks nothing. */
export class ClaudeAccountControl extends TerminalAccount {
  readonly #program: AgentProgram;
  readonly #sandbox: Sandbox;

  constructor(program: AgentProgram, sandbox: Sandbox) {
    super(CLAUDE);
    this.#program = program;
    this.#sandbox = sandbox;
  }

  /** Without a sandbox: the command removes the login from the user's own folder, and reads nothing of a project. */
  override async logout(listener: AccountListener): Promise<void> {
    const { environment } = this.#program;
    const credential = CREDENTIALS.find((name) => environment[name] !== undefined);
    if (credential !== undefined) {
      const message = `Claude Code works with ${credential}. To log out, remove that variable and restart Flint.`;
      throw new FlintError("invalidRequest", message);
    }
    let output = "";
    const { exitCode, ended } = await this.#sandbox.launch({
      ...{ command: [...outsideCommand(this.#program), ...LOGOUT], environment, cwd: "/", workspace: "/" },
      ...{ policy: { type: "dangerFullAccess" }, timeoutMs: LOGOUT_MS },
      onOutput: (text) => {
        output = `${output}${text}`.slice(-MAX_OUTPUT);
      },
    });
    if (ended !== "exited" || exitCode !== 0) {
      const why = output.trim() === "" ? `it ended with exit code ${exitCode}` : output.trim();
      throw new FlintError("agentFailed", `\`claude ${LOGOUT.join(" ")}\` failed: ${why}`);
    }
    listener.accountChanged();
  }
}
