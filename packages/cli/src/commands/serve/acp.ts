import { ignoredProgramReason, KNOWN_AGENTS } from "@flint/drivers";
import { installedAgent } from "@flint/server/agent-programs";
import { agentLogins, outsideEnvironment, outsideProgram } from "@flint/server/config";
import { noArguments, type ParsedArguments, UsageError } from "../../command-line/command.ts";
import type { ACP_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";
import { printError } from "../../command-line/output.ts";
import { serve } from "./serve.ts";

type AcpFlags = typeof SERVER_FLAGS & typeof ACP_FLAGS;

/** `flint acp`: serves an editor on stdin and stdout, from this process or from the running server. */
export async function acp({ values, positionals }: ParsedArguments<AcpFlags>): Promise<number> {
  noArguments("acp", positionals);
  const { login, ...serving } = values;
  if (login !== undefined) return logIn(login);
  return serve({ values: { ...serving, protocol: "acp" }, positionals });
}

function installWays(agent: string): string {
  const known = KNOWN_AGENTS.find(({ id }) => id === agent);
  const own = known?.package === undefined ? [] : [`flint agents install ${agent}`];
  return (
    [...own, ...(known?.install === undefined ? [] : [known.install])].join(", or ") || "its own installer"
  );
}

/** Runs an agent's own login in this terminal; editors start it when their user chooses a login method. */
async function logIn(agent: string): Promise<number> {
  const logins = agentLogins();
  const login = logins.find((known) => known.agent === agent);
  if (login === undefined) {
    const known = logins.map((offered) => offered.agent).join(", ");
    throw new UsageError(`--login must be one of ${known}, not ${JSON.stringify(agent)}.`);
  }
  const [named = "", ...args] = login.command.split(" ");
  const { path, interpreter, leftOut } = await outsideProgram((await installedAgent(agent))?.path ?? named);
  const [program, ...before] = path === undefined ? [] : [...(interpreter ?? []), path];
  if (program === undefined) {
    if (leftOut === undefined)
      return printError(`${login.name} is not installed. Install it with ${installWays(agent)}.`, 1);
    return printError(`Cannot run ${login.command}: ${ignoredProgramReason(leftOut, agent)}`, 1);
  }
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    // A login starts other programs, such as one that opens the browser.
    const env = outsideEnvironment([process.cwd()]);
    const child = spawn(program, [...before, ...args], { env, stdio: "inherit" });
    child.on("error", (error) => resolve(printError(`Cannot run ${login.command}: ${error.message}`, 1)));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
