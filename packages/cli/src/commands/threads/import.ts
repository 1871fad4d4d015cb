import { errorMessage, type NativeSession, type Result } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { escapeControls } from "@flint/view";
import { noArguments, UsageError } from "../../command-line/command.ts";
import { print, printError, printJson } from "../../command-line/output.ts";
import { withStoredData } from "../local-server.ts";

interface ImportArguments {
  readonly values: {
    readonly agent?: string | undefined;
    readonly all?: boolean | undefined;
    readonly last?: boolean | undefined;
    readonly here?: boolean | undefined;
    readonly json?: boolean | undefined;
  };
  readonly positionals: readonly string[];
}

/** The most sessions that one request lists. */
const LISTED = 100;

/** `flint threads import`: lists the agents' own sessions, or imports one, the latest, or all. */
export async function importThreads({ values, positionals }: ImportArguments): Promise<number> {
  const [session, ...more] = positionals;
  noArguments("threads import", more);
  const chosen = [session !== undefined, values.all === true, values.last === true].filter(Boolean);
  if (chosen.length > 1) throw new UsageError("Use only one of SESSION, --all and --last.");
  return withStoredData(async (client) => {
    const sessions = await listed(client, values);
    if (chosen.length === 0) return values.json === true ? printJson(sessions) : print(tableOf(sessions));
    return importAll(
      client,
      session === undefined ? latest(sessions, values) : [found(sessions, session)],
      values,
    );
  });
}

async function listed(client: FlintClient, { agent, here }: ImportArguments["values"]) {
  const { data } = await client.call("thread/import/list", {
    ...(agent === undefined ? {} : { agent }),
    ...(here === true ? { cwd: process.cwd() } : {}),
    limit: LISTED,
  });
  return data;
}

function latest(sessions: readonly NativeSession[], { all }: ImportArguments["values"]) {
  if (sessions.length === 0) throw new UsageError("No sessions of Claude Code or Codex were found.");
  return all === true ? sessions : sessions.slice(0, 1);
}

/** A session by its id, or the beginning of it. One that is not among the latest is named by its whole id. */
function found(sessions: readonly NativeSession[], id: string): Pick<NativeSession, "agent" | "id"> {
  const matching = sessions.filter((session) => session.id.startsWith(id));
  const [only, other] = matching;
  if (only !== undefined && other === undefined) return only;
  if (other !== undefined) throw new UsageError(`Several sessions start with ${id}; use a longer id.`);
  throw new UsageError(`No session starts with ${id}. flint threads import lists them.`);
}

/** Imports sessions one after the other; one that cannot be imported does not stop the others. */
async function importAll(
  client: FlintClient,
  sessions: readonly Pick<NativeSession, "agent" | "id">[],
  { json, all }: ImportArguments["values"],
): Promise<number> {
  const done: Result<"thread/import">[] = [];
  let failures = 0;
  for (const { agent, id: sessionId } of sessions) {
    try {
      const imported = await client.call("thread/import", { agent, sessionId });
      done.push(imported);
      if (json !== true) print(lineOf(agent, imported));
    } catch (thrown) {
      if (all !== true) throw thrown;
      failures += 1;
      printError(errorMessage(thrown), 0);
    }
  }
  if (json === true) printJson(done);
  return failures === 0 ? 0 : 1;
}

const DONE = { imported: "Imported", updated: "Updated", unchanged: "Unchanged" } as const;

function lineOf(agent: string, { thread, status, turns, notes }: Result<"thread/import">): string {
  const count = status === "unchanged" ? "" : `, ${turns} ${turns === 1 ? "turn" : "turns"}`;
  const about = escapeControls(thread.name ?? thread.preview).slice(0, 60);
  // Always with its folder, which the session itself says: the next turn works there.
  const where = escapeControls(thread.cwd);
  return [
    `${DONE[status]} ${thread.id} (${agent}${count}) of ${where}: ${about}`,
    ...notes.map(escapeControls),
    "",
  ].join("\n");
}

function tableOf(sessions: readonly NativeSession[]): string {
  if (sessions.length === 0) return "No sessions of Claude Code or Codex were found.\n";
  const rows = sessions.map(({ agent, id, updatedAt, cwd, preview, threadId }) => {
    const when = new Date(updatedAt * 1000).toISOString().slice(0, 16).replace("T", " ");
    const where = threadId === undefined ? "" : `  (thread ${threadId})`;
    return `${id}  ${agent.padEnd(7)} ${when}  ${escapeControls(cwd)}\n    ${escapeControls(preview).slice(0, 70)}${where}\n`;
  });
  return `${rows.join("")}Import one with flint threads import SESSION, or all with --all.\n`;
}
