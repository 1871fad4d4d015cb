import type { FlintClient } from "../client/flint-client.ts";
import { connect } from "../connect.ts";
import type { Warning } from "../errors.ts";
import type { ThreadHandle } from "../thread/thread-handle.ts";
import { aThread, aTurn, FakeServer, FakeThread } from "./fake-server.ts";

/** A client with one started thread, and the server behind it. */
export type Scene = {
  readonly client: FlintClient;
  readonly server: FakeServer;
  readonly fake: FakeThread;
  readonly thread: ThreadHandle;
  readonly warnings: Warning[];
  /** Resolves when the client has seen everything the server has sent so far. */
  caughtUp(): Promise<void>;
};

/** Plays the events after each `turn/start`, before the client can see its answer. */
type Play = (fake: FakeThread, turnId: string) => void;

async function setScene(play: Play = () => {}): Promise<Scene> {
  const server = new FakeServer();
  const fake = new FakeThread(server, "thread-1");
  const warnings: Warning[] = [];
  let turns = 0;
  server.answer("model/list", () => ({ data: [] }));
  server.answer("thread/start", () => {
    queueMicrotask(() => fake.started());
    return { thread: aThread("thread-1"), modelProvider: "test" };
  });
  server.answer("turn/start", () => {
    turns += 1;
    const turnId = `turn-${turns}`;
    queueMicrotask(() => play(fake, turnId));
    return { turn: aTurn(turnId) };
  });
  const client = await connect({
    transport: server.transport,
    onWarning: (warning) => warnings.push(warning),
  });
  const thread = await client.startThread({ cwd: "/code" });
  // A response arrives after everything that was sent before it.
  const caughtUp = async (): Promise<void> => void (await client.models());
  return { client, server, fake, thread, warnings, caughtUp };
}

/** The stage for the scenes of a test file, one for each test; its client is closed when the test ends. */
export class Stage {
  #current: Scene | undefined;

  constructor(afterEach: (cleanUp: () => Promise<void> | undefined) => void) {
    afterEach(() => this.#current?.client.close());
  }

  /** Sets the scene of the running test. */
  readonly scene = async (play?: Play): Promise<Scene> => {
    this.#current = await setScene(play);
    return this.#current;
  };

  /** Resolves when the client of the scene has seen everything the server has sent so far. */
  readonly caughtUp = async (): Promise<void> => {
    await this.#current?.caughtUp();
  };
}

/** The params of every request of this name, in order. */
export function paramsOf(server: FakeServer, method: string): unknown[] {
  return server.received.filter((message) => message.method === method).map(({ params }) => params);
}
