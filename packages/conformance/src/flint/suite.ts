import { FLINT } from "@flint/protocol";
import type { CheckGroup, Suite } from "../check.ts";
import { vocabularyChecks } from "../vocabulary-check.ts";
import { at, expectFit, Failed, formatValue, NON_EMPTY_ARRAY, NUMBER, STRING } from "../wire/pattern.ts";
import type { Message } from "../wire/wire.ts";
import { FlintThread, openSecondWire } from "./client.ts";
import { PROTOCOL_ERRORS } from "./protocol-errors.ts";
import { WORK } from "./work.ts";

/** Several clients on one live thread. */
const CONNECTIONS: CheckGroup = {
  about: "Several connections",
  checks: [
    {
      name: "thread/attach while a turn waits shows the items in progress and the open approval",
      run: async (trial) => {
        const other = await openSecondWire(trial);
        const thread = await FlintThread.start(trial);
        const { turnId } = await thread.provoke();
        const picture = await other.result("thread/attach", { threadId: thread.id });
        await thread.stop(turnId);
        expectFit("thread/attach", picture, { seq: NUMBER, epoch: STRING, approvals: NON_EMPTY_ARRAY });
      },
    },
    {
      name: "an approval is asked on every connection of the thread, and the first answer wins",
      run: async (trial) => {
        const other = await openSecondWire(trial);
        const thread = await FlintThread.start(trial);
        await other.result("thread/attach", { threadId: thread.id });
        const { turnId, request } = await thread.provoke();
        const same = await other.waitForMethod(String(request.method));
        other.answer(same.id, { decision: "decline" });
        const isResolved = ({ method, params }: Message): boolean =>
          method === "approval/resolved" && at(params, "threadId") === thread.id;
        await thread.wire.waitFor(isResolved, { what: "approval/resolved" });
        expectFit("the turn", await thread.ended(turnId), { status: "completed" });
        expectFit("the turn as the other sees it", await thread.ended(turnId, other), {
          status: "completed",
        });
      },
    },
    {
      name: "a client that attaches again with afterSeq gets what it missed, without gap or repeat",
      run: async (trial) => {
        const thread = await FlintThread.start(trial);
        const first = await openSecondWire(trial);
        const picture = await first.result("thread/attach", { threadId: thread.id });
        await first.close();
        const turnId = await thread.run("Say hello");
        const again = await openSecondWire(trial);
        const place = { afterSeq: picture.seq, epoch: picture.epoch };
        await again.result("thread/attach", { threadId: thread.id, ...place });
        expectFit("the turn", await thread.ended(turnId, again), { status: "completed" });
        const seqs = again.since(0).flatMap(({ params }) => {
          const seq = at(params, "seq");
          return typeof seq === "number" ? [seq] : [];
        });
        const repeated = seqs.find((seq, index) => index > 0 && seq <= (seqs[index - 1] ?? 0));
        if (repeated !== undefined) throw new Failed(`the numbers are ${formatValue(seqs)}`);
      },
    },
    {
      name: "a turn continues after the connection that started it closes",
      run: async (trial) => {
        const own = await openSecondWire(trial);
        const thread = await FlintThread.start(trial, own);
        const { turnId, request } = await thread.provoke();
        await own.close();
        const other = await openSecondWire(trial);
        await other.result("thread/attach", { threadId: thread.id });
        const again = await other.waitForMethod(String(request.method));
        other.answer(again.id, { decision: "decline" });
        expectFit("the turn", await thread.ended(turnId, other), { status: "completed" });
      },
    },
  ],
};

/** The requirements on a server of Flint's own protocol. */
export const FLINT_SUITE: Suite = {
  protocol: "flint",
  header: FLINT.header,
  groups: [PROTOCOL_ERRORS, WORK, CONNECTIONS, vocabularyChecks(FLINT)],
  tolerances: { optionalMessages: [], unordered: [], errors: "words", optionalFields: [] },
};
