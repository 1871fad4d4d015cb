import { KEEP_ALIVE_CLOCK } from "@flint/core/ports";
import { type EventType, readLoggedEvent, type StoredEvent } from "@flint/protocol";
import type { FlintClient } from "@flint/sdk";
import { inheritedEnvironment } from "@flint/server/environment";
import { canMoveCursor, readLook, styled } from "@flint/tui/draw";
import { playEvents, ThreadReplay } from "@flint/tui/replay";
import { LiveRegion } from "@flint/tui/terminal";
import { oneArgument, UsageError } from "../../command-line/command.ts";
import { withStoredData } from "../local-server.ts";
import { findThread } from "./thread-reference.ts";
import { findTurn } from "./turn-reference.ts";

export interface ReplayThreadArguments {
  readonly values: { readonly turn?: string | undefined; readonly speed?: string | undefined };
  readonly positionals: readonly string[];
}

/** `flint threads replay ID`: plays a thread as its session looked, or prints it at once where lines cannot be redrawn. */
export async function replayThread({ values, positionals }: ReplayThreadArguments): Promise<number> {
  const reference = oneArgument("threads replay", positionals, "a thread: an id, or last");
  const speed = speedOf(values.speed);
  const read = await withStoredData((client) => recorded(client, reference, values.turn));
  return process.stdout.isTTY && canMoveCursor(inheritedEnvironment()) ? play(read, speed) : print(read);
}

/** The part of a log that is played, and the state before it. */
interface Recording {
  readonly threadId: string;
  readonly before: readonly StoredEvent[];
  readonly played: readonly StoredEvent[];
}

async function recorded(
  client: FlintClient,
  reference: string,
  turn: string | undefined,
): Promise<Recording> {
  const { id: threadId } = await findThread(client, reference, process.cwd());
  const turnId = turn === undefined ? undefined : await findTurn(client, threadId, turn);
  const { events } = await client.call("thread/events/list", { threadId });
  const known = events.flatMap((event) => readLoggedEvent(event) ?? []);
  if (turnId === undefined) return { threadId, before: [], played: known };
  return { threadId, ...eventsThroughTurn(known, turnId) };
}

/** The events of one turn, and those before it. */
export function eventsThroughTurn(
  events: readonly StoredEvent[],
  turnId: string,
): Omit<Recording, "threadId"> {
  const first = placeOf(events, "turn/started", turnId);
  if (first === -1)
    throw new UsageError(`The log of the thread has no turn ${turnId}. See flint threads show.`);
  const last = placeOf(events, "turn/completed", turnId);
  return { before: events.slice(0, first), played: events.slice(first, last === -1 ? undefined : last + 1) };
}

function placeOf(events: readonly StoredEvent[], type: EventType, turnId: string): number {
  return events.findIndex(
    (event) => event.type === type && "turn" in event.data && event.data.turn.id === turnId,
  );
}

function speedOf(given = "1"): number {
  const speed = Number(given.replace(/x$/, ""));
  if (given.trim() !== "" && speed > 0 && Number.isFinite(speed)) return speed;
  throw new UsageError(
    `--speed must be a number greater than 0, such as 4 or 0.5, not ${JSON.stringify(given)}.`,
  );
}

function look() {
  return readLook(inheritedEnvironment(), process.stdout);
}

async function play({ threadId, before, played }: Recording, speed: number): Promise<number> {
  const replay = new ThreadReplay({ threadId, look });
  replay.skip(before);
  const region = new LiveRegion((text) => void process.stdout.write(text), look);
  const stop = new AbortController();
  let exitCode = 0;
  const onSignal = (signal: NodeJS.Signals): void => {
    exitCode = signal === "SIGINT" ? 130 : 143;
    stop.abort();
  };
  const show = (): void => {
    const { final, live } = replay.take("Ctrl-C to stop");
    region.draw(final, live);
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, onSignal);
  try {
    await playEvents(played, replay, { speed, clock: KEEP_ALIVE_CLOCK, signal: stop.signal, show });
  } finally {
    region.clear();
    for (const signal of signals) process.off(signal, onSignal);
  }
  return exitCode;
}

function print({ threadId, before, played }: Recording): number {
  const replay = new ThreadReplay({ threadId, look });
  replay.skip(before);
  const colour = process.stdout.isTTY && look().colour;
  // A later event can take back what an earlier one showed, and both are printed.
  const lines = played.flatMap((event) => {
    replay.add(event);
    return replay.take("").final;
  });
  process.stdout.write(lines.map((line) => `${styled(line, colour)}\n`).join(""));
  return 0;
}
