import type { AuthMethod, InitializeResponse } from "@agentclientprotocol/sdk";
import type { ClientAbilities } from "../capabilities.ts";
import { LOGINS, type Login, loginArguments, loginId, loginWords } from "../login.ts";

/** What a client of the first version is told about Flint. */
export function helloV1(version: string, { terminalLogin }: ClientAbilities): InitializeResponse {
  return {
    protocolVersion: 1,
    agentInfo: { name: "flint", title: "Flint", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: {
        list: {},
        delete: {},
        resume: {},
        close: {},
        additionalDirectories: {},
        // Not in the stable list, and ignored by those who do not know them.
        ...{ fork: {}, status: {}, title: {}, systemPrompt: {} },
      },
    },
    authMethods: LOGINS.map((login) => authMethod(login, terminalLogin)),
    _meta: { steering: { supported: true } },
  };
}

/** A client with a terminal runs Flint with these arguments there; others show the command. */
function authMethod(login: Login, inTerminal: boolean): AuthMethod {
  const shown = { id: loginId(login.agent), ...loginWords(login) };
  return inTerminal ? { ...shown, type: "terminal", args: loginArguments(login.agent) } : shown;
}
