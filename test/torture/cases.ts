import { loud } from "./agents/p11-verbose-agent.ts";
import { interruptText } from "./agents/p12-interrupt-text.ts";
import { interruptCommand } from "./agents/p13-interrupt-command.ts";
import { floodingAgents } from "./agents/p25-flooding-agents.ts";
import type { TortureCase } from "./case.ts";
import { manyThreads } from "./clients/p07-threads.ts";
import { manyStored } from "./clients/p08-stored.ts";
import { stalledClient } from "./clients/p09-stalled-client.ts";
import { subscribers } from "./clients/p10-subscribers.ts";
import { unanswered } from "./clients/p14-unanswered.ts";
import { twoServers } from "./clients/p21-two-servers.ts";
import { rounds } from "./clients/p22-rounds.ts";
import { crashText } from "./crashes/p15-crash-text.ts";
import { crashCommand } from "./crashes/p16-crash-command.ts";
import { crashApproval } from "./crashes/p17-crash-approval.ts";
import { torn } from "./crashes/p18-torn.ts";
import { politeStop } from "./crashes/p19-graceful-stop.ts";
import { diskFull } from "./crashes/p20-disk-full.ts";
import { malformed } from "./input/p01-malformed.ts";
import { burst } from "./input/p02-burst.ts";
import { oversize, oversizeGarbage } from "./input/p03-oversize.ts";
import { order } from "./input/p04-order.ts";
import { prototypeKeys } from "./input/p05-prototype.ts";
import { stdout } from "./input/p06-stdout.ts";
import { hostileIds } from "./input/p27-hostile-ids.ts";
import { privateStore } from "./safety/p30-private.ts";
import { secrets } from "./safety/p31-secrets.ts";
import { sandbox } from "./safety/p32-sandbox.ts";
import { noSandbox } from "./safety/p33-no-sandbox.ts";
import { slyCommands } from "./safety/p34-evasive-commands.ts";

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
