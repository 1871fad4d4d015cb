import type { TortureCase } from "./case.ts";
import { malformed } from "./p01-malformed.ts";
import { burst } from "./p02-burst.ts";
import { oversize, oversizeGarbage } from "./p03-oversize.ts";
import { order } from "./p04-order.ts";
import { prototypeKeys } from "./p05-prototype.ts";
import { stdout } from "./p06-stdout.ts";
import { manyThreads } from "./p07-threads.ts";
import { manyStored } from "./p08-stored.ts";
import { stalledClient } from "./p09-stalled-client.ts";
import { subscribers } from "./p10-subscribers.ts";
import { loud } from "./p11-verbose-agent.ts";
import { interruptText } from "./p12-interrupt-text.ts";
import { interruptCommand } from "./p13-interrupt-command.ts";
import { unanswered } from "./p14-unanswered.ts";
import { crashText } from "./p15-crash-text.ts";
import { crashCommand } from "./p16-crash-command.ts";
import { crashApproval } from "./p17-crash-approval.ts";
import { torn } from "./p18-torn.ts";
import { politeStop } from "./p19-graceful-stop.ts";
import { diskFull } from "./p20-disk-full.ts";
import { twoServers } from "./p21-two-servers.ts";
import { rounds } from "./p22-rounds.ts";
import { floodingAgents } from "./p25-flooding-agents.ts";
import { hostileIds } from "./p27-hostile-ids.ts";
import { privateStore } from "./p30-private.ts";
import { secrets } from "./p31-secrets.ts";
import { sandbox } from "./p32-sandbox.ts";
import { noSandbox } from "./p33-no-sandbox.ts";
import { slyCommands } from "./p34-evasive-commands.ts";

/** Every case, in the order they run; the one about all lines of all others comes last. */
export const CASES: readonly TortureCase[] = [
  malformed,
  burst,
  oversize,
  order,
  prototypeKeys,
  manyThreads,
  manyStored,
  stalledClient,
  subscribers,
  loud,
  interruptText,
  interruptCommand,
  unanswered,
  crashText,
  crashCommand,
  crashApproval,
  torn,
  politeStop,
  diskFull,
  twoServers,
  rounds,
  ...floodingAgents,
  hostileIds,
  privateStore,
  secrets,
  sandbox,
  noSandbox,
  slyCommands,
  stdout,
];

/** The cases that are quick enough for every run of the tests; `npm run torture` has them all, with larger numbers. */
export const QUICK_CASES: readonly TortureCase[] = [
  malformed,
  oversizeGarbage,
  order,
  prototypeKeys,
  stdout,
  interruptText,
  interruptCommand,
  unanswered,
  crashText,
  crashCommand,
  crashApproval,
  torn,
  politeStop,
  twoServers,
  hostileIds,
  privateStore,
  secrets,
  sandbox,
  noSandbox,
  slyCommands,
];

/** The cases that the tests do not run. */
export const OTHER_CASES: readonly TortureCase[] = CASES.filter(
  (torture) => torture === stdout || !QUICK_CASES.includes(torture),
);
