import { leavesNoProcess } from "@flint/testkit";
import { beforeAll, expect, test } from "vitest";
import { buildPrograms } from "../server/build.ts";
import { malformed } from "./p01-malformed.ts";
import { oversizeGarbage } from "./p03-oversize.ts";
import { order } from "./p04-order.ts";
import { prototypeKeys } from "./p05-prototype.ts";
import { stdout } from "./p06-stdout.ts";
import { interruptText } from "./p12-interrupt-text.ts";
import { interruptCommand } from "./p13-interrupt-command.ts";
import { unanswered } from "./p14-unanswered.ts";
import { crashText } from "./p15-crash-text.ts";
import { crashCommand } from "./p16-crash-command.ts";
import { crashApproval } from "./p17-crash-approval.ts";
import { torn } from "./p18-torn.ts";
import { politeStop } from "./p19-polite-stop.ts";
import { twoServers } from "./p21-two-servers.ts";
import { hostileIds } from "./p27-hostile-ids.ts";
import { privateStore } from "./p30-private.ts";
import { secrets } from "./p31-secrets.ts";
import { sandbox } from "./p32-sandbox.ts";
import { noSandbox } from "./p33-no-sandbox.ts";
import { slyCommands } from "./p34-sly-commands.ts";
import { runCase } from "./run-case.ts";

/** The cases that are quick enough for every run of the tests; `npm run torture` has them all, with larger numbers. */
const QUICK = [
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

beforeAll(async () => {
  await buildPrograms();
});

for (const torture of QUICK) {
  test(`${torture.title} [${torture.id}]`, async ({ skip }) => {
    leavesNoProcess();
    const { result, reasons } = await runCase(torture, true);
    skip(result === "skipped", reasons.join("; "));
    expect(reasons).toEqual([]);
  });
}
