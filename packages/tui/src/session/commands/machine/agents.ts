import { escapeControls } from "@flint/view";
import type { SessionContext } from "../../context.ts";
import type { MachineAgent } from "../../machine.ts";

const USAGE = "Type /agents install NAME or /agents remove NAME; /agents lists all.";

/** `/agents` lists the agents of this machine; `/agents install NAME` and `/agents remove NAME` change their programs. */
export function agentsCommand(session: SessionContext, given: string): void {
  const [what = "", name = "", ...more] = given.split(/\s+/);
  if (what === "") list(session);
  else if (name === "" || more.length > 0) session.say(USAGE);
  else if (what === "install") install(session, name);
  else if (what === "remove") remove(session, name);
  else session.say(USAGE);
}

function list(session: SessionContext): void {
  session.say("Looking for the agents of this machine.");
  session.run(async () => {
    const agents = await session.machine.agents();
    session.say("");
    const names = Math.max(...agents.map(({ id }) => id.length));
    session.openMenu(
      {
        title: "Agents of this machine",
        items: agents.map((agent) => ({
          label: escapeControls(`${agent.id.padEnd(names)}  ${agent.version}`),
          detail: escapeControls(aboutAgent(agent)),
          choose: () => choose(session, agent),
        })),
      },
      0,
    );
  });
}

function aboutAgent({ loggedIn, path, install }: MachineAgent): string {
  const login = loggedIn === undefined ? [] : [loggedIn ? "logged in" : "not logged in"];
  return [...login, path ?? install ?? ""].join("  ");
}

function choose(session: SessionContext, { id, name, change, path, install: how }: MachineAgent): void {
  if (change === undefined) {
    const where = path === undefined ? `${name} is not installed. ${how ?? ""}` : `${name}: ${path}`;
    session.say(escapeControls(where.trim()));
    return;
  }
  const isInstall = change === "install";
  session.openMenu({
    title: escapeControls(isInstall ? `Install ${name}?` : `Remove ${name}?`),
    items: [
      { label: "No", choose: () => undefined },
      {
        label: "Yes",
        detail: isInstall ? "the version that Flint is tested with, by npm" : "only what Flint installed",
        choose: () => (isInstall ? install(session, id) : remove(session, id)),
      },
    ],
  });
}

/** Installs an agent. The work, and its duration, stand below the composer until it is over. */
function install(session: SessionContext, name: string): void {
  session.run(async () => {
    try {
      const outcome = await session.machine.installAgent(name, (doing) => session.say(doing));
      for (const line of outcome.split("\n")) session.warn(line);
    } finally {
      session.say("");
    }
  });
}

function remove(session: SessionContext, name: string): void {
  session.run(async () => session.warn(await session.machine.removeAgent(name)));
}
