import { agentOfModel } from "@flint/protocol";
import type { AgentEvent } from "@flint/sdk";
import type { SessionContext } from "../../context.ts";

/** The ways to log in that clients can offer, by the types of the protocol. */
const WAYS = [
  ["chatgpt", "In a browser on this machine"],
  ["chatgptDeviceCode", "With a code, in a browser anywhere"],
] as const;

/** Logs in to the agent of the session, unless it is logged in. An agent that does so only in a terminal says how. */
export function login(session: SessionContext): void {
  session.run(async () => {
    const { account } = await session.client.call("account/read", threadOf(session));
    const agent = agentOf(session);
    const { label, type = "" } = account ?? {};
    if (account !== null) return session.say(`${agent} is logged in: ${label ?? type}. /logout logs out.`);
    session.openMenu({
      title: `Log in to ${agent}`,
      items: WAYS.map(([way, words]) => ({ label: words, choose: () => start(session, agent, way) })),
    });
  });
}

function start(session: SessionContext, agent: string, type: string): void {
  session.run(async () => {
    const begun = await session.client.call("account/login/start", { agent, type });
    const { authUrl, verificationUrl, userCode = "" } = begun;
    if (verificationUrl !== undefined) session.warn(`Open ${verificationUrl} and enter the code ${userCode}`);
    else if (authUrl !== undefined) session.warn(`Log in at ${authUrl}`);
  });
}

/** Logs out of the agent of the session, once the user has confirmed it. */
export function logout(session: SessionContext): void {
  const agent = agentOf(session);
  const leave = () =>
    session.run(async () => {
      await session.client.call("account/logout", { agent });
      session.say(`Logged out of ${agent}.`);
    });
  session.openMenu({
    title: `Log out of ${agent}?`,
    items: [
      { label: "Stay logged in", choose: () => undefined },
      { label: "Log out", detail: "its other programs are logged out, too", choose: leave },
    ],
  });
}

/** The outcome of a login that was started in any client; undefined for other events. */
export function loginResult(event: AgentEvent): string | undefined {
  if (event.type !== "account/login/completed") return undefined;
  const { agent, success, error } = event.data;
  if (success) return `Logged in to ${agent}.`;
  return `The login to ${agent} failed${error === undefined ? "." : `: ${error}`}`;
}

function agentOf({ settings }: SessionContext): string {
  return agentOfModel(settings?.model ?? "");
}

function threadOf({ state }: SessionContext): { threadId?: string } {
  return state === undefined ? {} : { threadId: state.thread.id };
}
