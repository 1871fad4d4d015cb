import { fileURLToPath } from "node:url";
import type { PriceList } from "@flint/agent/prices";
import type { Clock, McpServerConfig } from "@flint/core/ports";
import type { Cost, SandboxPolicy, ThreadSettings, Turn } from "@flint/protocol";
import {
  leavesNoProcess,
  RecordingTurn,
  type RecordingTurnOptions,
  realSandbox,
  temporaryFolder,
} from "@flint/testkit";
import { onTestFinished } from "vitest";
import { sessionSpec, testSettings } from "../../testing/session-spec.ts";
import { AcpDriver } from "../driver.ts";
import { type AcpProfile, GENERIC } from "../profile.ts";

/** Differences of a fixture agent's session from the default one. */
export interface AcpFixtureOptions {
  readonly flags?: readonly string[];
  readonly profile?: Partial<AcpProfile>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ThreadSettings>;
  readonly policy?: SandboxPolicy;
  readonly nativeId?: string;
  readonly nativeCost?: Cost;
  readonly history?: readonly Turn[];
  readonly handoffSummary?: string;
  readonly mcpServers?: readonly McpServerConfig[];
  readonly prices?: PriceList;
}

/** Differences of a turn from a plain prompt. */
export type TurnOptions = Partial<Omit<RecordingTurnOptions, "text">> & {
  /** Other fields of the turn. */
  readonly other?: object;
};

/** The fixture agent in a folder of its own, with a session that ends with the test and leaves no process. */
export async function openFixture(options: AcpFixtureOptions = {}) {
  leavesNoProcess();
  const folder = await temporaryFolder();
  const { flags = [], profile = {}, environment = {}, prices } = options;
  const driver = driverOf([process.execPath, AGENT, ...flags], { profile, environment, prices });
  const settings = testSettings("fixture/default", folder.path, {
    approvalPolicy: "unlessTrusted",
    sandboxPolicy: options.policy ?? { type: "dangerFullAccess" },
    ...options.settings,
  });
  const { nativeId, nativeCost, history = [], handoffSummary = "", mcpServers = [] } = options;
  const session = await driver.open(
    sessionSpec(settings, realSandbox(), {
      ...{ nativeId, nativeCost, mcpServers },
      history: async () => history,
      handoffSummary: async () => handoffSummary,
    }),
  );
  onTestFinished(() => session.close());
  const begin = (text: string, { other, ...turnOptions }: TurnOptions = {}) => {
    const turn = new RecordingTurn({ settings, ...turnOptions, text });
    Object.assign(turn, other);
    return { turn, ended: session.run(turn).finally(() => turn.end()) };
  };
  const run = async (text: string, turnOptions: TurnOptions = {}) => {
    const { turn, ended } = begin(text, turnOptions);
    const outcome = await ended;
    return { turn, outcome, answer: agentText(turn) };
  };
  return { driver, session, settings, folder, begin, run };
}

/** The whole text of the agent's messages in a turn. */
function agentText({ completedItems }: RecordingTurn): string {
  return completedItems
    .flatMap((item) => (item.type === "agentMessage" ? [String(Reflect.get(item, "text"))] : []))
    .join("");
}

/** The program of the fixture agent. */
export const AGENT = fileURLToPath(new URL("../fixtures/agent.mjs", import.meta.url));

/** The fixture agent as a driver; the flags change how it starts. */
export function fixtureDriver(
  flags: readonly string[] = [],
  profile: Partial<AcpProfile> = {},
  environment: Readonly<Record<string, string>> = {},
): AcpDriver {
  return driverOf([process.execPath, AGENT, ...flags], { profile, environment });
}

/** Differences of a driver from that of an unknown agent. */
export interface DriverOptions {
  readonly profile?: Partial<AcpProfile>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly prices?: PriceList | undefined;
  readonly clock?: Clock;
}

/** A driver of this program. */
export function driverOf(command: readonly string[], options: DriverOptions = {}): AcpDriver {
  const { profile, environment = {}, prices, clock } = options;
  const agent = {
    profile: { ...GENERIC, ...profile, id: "fixture", displayName: "Fixture" },
    program: async () => ({ command, environment }),
    version: "0.0.0",
    prices,
  };
  return new AcpDriver(agent, clock);
}
