import type { SessionSpec } from "@flint/core/ports";
import type { ThreadSettings } from "@flint/protocol";
import { CodexDriver } from "../driver.ts";
import type { CodexTiming } from "../process/server.ts";
import type { FakeCodex } from "./fake-codex.ts";

/** A thread without a sandbox of which everything is asked. */
export const SETTINGS: ThreadSettings = {
  model: "codex/default",
  cwd: "/workspace",
  approvalPolicy: "always",
  sandboxPolicy: { type: "dangerFullAccess" },
  config: {},
};

/** Where the turn of a fake program is. */
export const PLACE = { threadId: "thread-1", turnId: "turn-1" };

/** How a session differs from a first one. */
export interface FakeSessionWishes {
  readonly spec?: Partial<SessionSpec>;
  readonly timing?: Partial<CodexTiming>;
}

/** What a first session is opened with. */
export function specOf(fake: FakeCodex): SessionSpec {
  return {
    ...{ threadId: "flint-thread", settings: SETTINGS, nativeId: undefined, sandbox: fake, mcpServers: [] },
    ...{ history: async () => [], handoffSummary: async () => "" },
  };
}

/** A session that talks to a fake program, for the running test: `fakeSession(fake, onTestFinished)`. */
export async function fakeSession(
  fake: FakeCodex,
  atEnd: (cleanUp: () => Promise<void>) => void,
  { spec = {}, timing = { stop: 100 } }: FakeSessionWishes = {},
) {
  const program = async () => ({ command: ["codex"], environment: {} });
  const driver = new CodexDriver({ program, version: "1.2.3", sandbox: fake }, timing);
  const opened = await driver.open({ ...specOf(fake), ...spec });
  atEnd(async () => {
    await opened.close();
    await driver.close();
  });
  return { opened, driver };
}
