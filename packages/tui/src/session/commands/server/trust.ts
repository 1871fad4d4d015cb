import type { WorkspaceFile } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { trustPage } from "../../../pages/trust-page.ts";
import type { SessionContext } from "../../context.ts";

/** Shows what in this folder configures Flint or steers an agent, to trust it as shown; `revoke` takes all trust back. */
export function reviewTrust(session: SessionContext, what: string): void {
  session.run(async () => {
    const cwd = session.settings?.cwd ?? session.machine.cwd;
    const { files } = await session.client.call("workspace/read", { cwd });
    if (what === "revoke") return revoke(session, cwd, files);
    if (files.length === 0)
      return session.say(`No files in ${escapeControls(cwd)} configure Flint or an agent.`);
    const trust = (shown: readonly WorkspaceFile[]) => session.run(() => trustAsShown(session, cwd, shown));
    session.openPage(trustPage(files, trust));
  });
}

/** Exactly what was shown: the server refuses if a file has changed in the meantime. */
async function trustAsShown(
  session: SessionContext,
  cwd: string,
  shown: readonly WorkspaceFile[],
): Promise<void> {
  const files = shown.map(({ path, sha256 }) => ({ path, sha256 }));
  await session.client.call("workspace/trust", { cwd, files });
  session.warn(`Trusted: ${namesOf(shown)}. /trust revoke takes that back.`);
}

async function revoke(session: SessionContext, cwd: string, files: readonly WorkspaceFile[]): Promise<void> {
  const trusted = files.filter((file) => file.trusted);
  if (trusted.length === 0) return session.say("No file of this folder is trusted.");
  await session.client.call("workspace/distrust", { cwd });
  session.warn(`No longer trusted: ${namesOf(trusted)}.`);
}

function namesOf(files: readonly WorkspaceFile[]): string {
  return files.map(({ path }) => path).join(", ");
}
