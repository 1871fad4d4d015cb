import type { DriverSession, McpServerConfig, Sandbox, TurnContext } from "@flint/core/ports";
import { mintId, type SandboxPolicy, type ThreadItem, type ThreadSettings, type Turn } from "@flint/protocol";
import type { AcpProfile } from "../profiles.ts";
import { fixtureDriver } from "./fixture.ts";

/** How a scene of a test differs from the usual one. */
export interface BenchOptions {
  readonly flags?: readonly string[];
  readonly profile?: Partial<AcpProfile>;
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: Partial<ThreadSettings>;
  readonly policy?: SandboxPolicy;
  readonly nativeId?: string;
  readonly history?: readonly Turn[];
  readonly account?: string;
  readonly mcpServers?: readonly McpServerConfig[];
}

/** A turn that keeps what happens in it. */
interface Recorder extends TurnContext {
  readonly completedItems: readonly ThreadItem[];
  end(): void;
}

/** What the running test gives: an empty folder, and turns that keep what happens in them. */
export interface AcpBenchKit<Wishes, Recorded extends Recorder> {
  readonly folder: string;
  readonly sandbox: Sandbox;
  turnOf(options: Wishes & { readonly text: string; readonly settings: ThreadSettings }): Recorded;
  atEnd(cleanUp: () => Promise<void>): void;
}

/** The fixture agent in a folder of its own, with a session that ends with the test. */
export async function acpBench<Wishes extends object, Recorded extends Recorder>(
  kit: AcpBenchKit<Wishes, Recorded>,
  options: BenchOptions,
) {
  const driver = fixtureDriver(options.flags, options.profile, options.environment);
  const settings: ThreadSettings = {
    ...{ model: "fixture/default", cwd: kit.folder, approvalPolicy: "unlessTrusted", config: {} },
    sandboxPolicy: options.policy ?? { type: "dangerFullAccess" },
    ...options.settings,
  };
  const session: DriverSession = await driver.open({
    ...{ threadId: mintId(), settings, nativeId: options.nativeId, sandbox: kit.sandbox },
    history: async () => options.history ?? [],
    account: async () => options.account ?? "",
    mcpServers: options.mcpServers ?? [],
  });
  kit.atEnd(() => session.close());
  /** `other` fields are put into the turn as they are. */
  const begin = (text: string, wishes: Wishes, other: object = {}) => {
    const turn = kit.turnOf({ settings, ...wishes, text });
    Object.assign(turn, other);
    return { turn, ended: session.run(turn).finally(() => turn.end()) };
  };
  const run = async (text: string, wishes: Wishes, other: object = {}) => {
    const { turn, ended } = begin(text, wishes, other);
    const outcome = await ended;
    return { turn, outcome, said: saidIn(turn) };
  };
  return { driver, session, settings, begin, run };
}

/** All that an agent said in a turn. */
function saidIn({ completedItems }: Recorder): string {
  return completedItems
    .flatMap((item) => (item.type === "agentMessage" ? [String(Reflect.get(item, "text"))] : []))
    .join("");
}
