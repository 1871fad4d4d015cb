import type { AuthMethod, InitializeResponse } from "@agentclientprotocol/sdk/experimental/v2";
import type { ClientAbilities } from "../capabilities.ts";
import { LOGINS, type Login, loginArguments, loginId, loginWords } from "../login.ts";

/** What a client of the second version is told about Flint. */
export function helloV2(version: string, { terminalLogin }: ClientAbilities): InitializeResponse {
  return {
    protocolVersion: 2,
    info: { name: "flint", title: "Flint", version },
    capabilities: {
      session: {
        prompt: { image: {}, embeddedContext: {} },
        mcp: { stdio: {}, http: {} },
        delete: {},
        additionalDirectories: {},
        // Not in the stable list, and ignored by those who do not know them.
        ...{ fork: {}, title: {}, systemPrompt: {} },
      },
      auth: {},
    },
    authMethods: LOGINS.map((login) => authMethod(login, terminalLogin)),
    _meta: { steering: { supported: true } },
  };
}

function authMethod(login: Login, inTerminal: boolean): AuthMethod {
  const shown = { methodId: loginId(login.agent), ...loginWords(login) };
  if (!inTerminal) return { ...shown, type: "agent" };
  return { ...shown, type: "terminal", args: loginArguments(login.agent) };
}
