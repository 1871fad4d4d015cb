import { FlintError } from "@flint/protocol";
import type { RequestContext } from "../shared/frontend.ts";
import type { AcpParams } from "./requests.ts";
import { AcpError } from "./vocabulary.ts";

/** An agent with a login command of its own. */
export interface Login {
  /** The agent's id. */
  readonly agent: string;
  /** The agent's name, as users know it. */
  readonly name: string;
  /** The command line that asks for the login, in a terminal. */
  readonly command: string;
}

/** The id of a login method. */
export function loginId(agent: string): string {
  return `${agent}-login`;
}

/** The labels of a login method: its name, and the command for users who have to type it. */
export function loginLabels({ name, command }: Login): { name: string; description: string } {
  return { name: `Log in with ${name}`, description: `Run \`${command}\` in a terminal` };
}

/** The arguments with which a client runs Flint in a terminal to log in to an agent. */
export function loginArguments(agent: string): string[] {
  return ["--login", agent];
}

/** Handles `authenticate` and `auth/login`: checks that the user has logged in. Flint cannot log in for the user. */
export async function authenticate(
  { methodId }: AcpParams<"authenticate">,
  { core, reply }: RequestContext,
  logins: readonly Login[],
): Promise<void> {
  const login = logins.find(({ agent }) => loginId(agent) === methodId);
  if (login === undefined) {
    const known = logins.map(({ agent }) => loginId(agent));
    const message = `Unknown login method ${JSON.stringify(methodId)}. Use one of: ${known.join(", ")}.`;
    throw new FlintError("invalidParams", message, { field: "methodId", known });
  }
  const { requiresLogin, provider } = await core.call("account/read", {});
  if (requiresLogin && provider === login.agent) {
    throw new AcpError("authRequired", `${login.name} is not logged in. Run: ${login.command}`);
  }
  reply({});
}

/** Handles `logout` and `auth/logout`, which only the agents themselves can do. */
export async function logout(): Promise<void> {
  const message =
    "Flint has no account of its own. Log out of the agent itself, for example with: claude auth logout, codex logout.";
  throw new FlintError("unsupported", message);
}

/** Handles `auth/status`: the account that the default agent uses. */
export async function authStatus(
  _params: AcpParams<"auth/status">,
  { core, reply }: RequestContext,
): Promise<void> {
  const { account, requiresLogin } = await core.call("account/read", {});
  const label = account?.label ?? account?.type;
  const accounts = label === undefined ? {} : { accounts: [{ label }] };
  reply({ state: requiresLogin ? "unauthenticated" : "authenticated", ...accounts });
}
