import { noArguments, UsageError } from "../../command-line/arguments.ts";
import type { Given } from "../../command-line/command.ts";
import type { ACP_FLAGS, SERVER_FLAGS } from "../../command-line/flags.ts";
import { complain } from "../../command-line/output.ts";
import { serve } from "./serve.ts";

type AcpFlags = typeof SERVER_FLAGS & typeof ACP_FLAGS;

/** `flint acp`: the door for editors on stdin and stdout, of this server or of the one that runs already. */
export async function acp({ values, positionals }: Given<AcpFlags>): Promise<number> {
  noArguments("acp", positionals);
  const { login, ...serving } = values;
  if (login !== undefined) return logIn(login);
  return serve({ values: { ...serving, door: "acp" }, positionals });
}

/** Runs an agent's own login in this terminal; editors call it when their user chooses a login method. */
async function logIn(agent: string): Promise<number> {
  const { LOGINS } = await import("@flint/frontends/acp");
  const login = LOGINS.find((known) => known.agent === agent);
  if (login === undefined) {
    const known = LOGINS.map((offered) => offered.agent);
    throw new UsageError(`--login takes ${known.join(", ")}; not ${JSON.stringify(agent)}.`);
  }
  const [program = "", ...args] = login.command.split(" ");
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const child = spawn(program, args, { stdio: "inherit" });
    child.on("error", (error) => resolve(complain(`${login.command} cannot be run: ${error.message}`, 1)));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}
