import { mintId, type Turn } from "@flint/protocol";
import type { Absent, DriverGives, DriverUnderTest } from "./driver-under-test.ts";
import type { RecordingTurn } from "./recording-turn.ts";

/** A check that cannot be made; the message says why. */
export class NotGiven extends Error {}

/** All that a driver gives; throws if it said nothing of that. */
export function gives({ gives: entries }: DriverUnderTest): DriverGives {
  if (entries === undefined) throw new NotGiven("describeDriver was given no `gives` for this driver");
  return entries;
}

/** What a check needs; throws the reason if the driver lacks it. */
export function given<Name extends keyof DriverGives>(
  under: DriverUnderTest,
  name: Name,
): Exclude<DriverGives[Name], Absent> {
  const entry: DriverGives[Name] = gives(under)[name];
  if (isAbsent(entry)) throw new NotGiven(entry.absent);
  // What is not absent is what is left of the union; the compiler cannot follow it through a name.
  return entry as Exclude<DriverGives[Name], Absent>;
}

function isAbsent(entry: object): entry is Absent {
  return "absent" in entry;
}

/** A turn as the core would have stored it. */
export function asStored(turn: RecordingTurn): Turn {
  const asked = { type: "userMessage" as const, id: mintId(), content: [...turn.input] };
  return { id: turn.turnId, status: "completed", items: [asked, ...turn.completedItems] };
}
