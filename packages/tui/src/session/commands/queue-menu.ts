import { inputText, type QueuedInput } from "@flint/protocol";
import { escapeControls } from "@flint/view";
import { contentOf } from "../../input/index.ts";
import type { SessionContext } from "../context.ts";

/** The queued inputs, to edit, reorder, send now or take back. */
export function editQueue(session: SessionContext, selected = 0): void {
  const { queue = [], thread } = session.state ?? {};
  const threadId = thread?.id;
  if (threadId === undefined || queue.length === 0) return;
  const again = (at: number) => (work: () => Promise<unknown>) =>
    session.run(async () => {
      await work();
      editQueue(session, at);
    });
  session.openMenu(
    {
      title: "Queued inputs",
      items: queue.map((queued) => ({
        label: escapeControls(inputText(queued.input)).replaceAll("\n", " "),
        choose: () => session.run(() => takeBack(session, threadId, queued)),
      })),
      keys: [
        {
          key: "u",
          title: "up",
          press: (at) => again(at - 1)(() => reorder(session, threadId, queue, at, -1)),
        },
        {
          key: "d",
          title: "down",
          press: (at) => again(at + 1)(() => reorder(session, threadId, queue, at, 1)),
        },
        {
          key: "s",
          title: "send now",
          press: (at) => {
            const queuedInputId = queue[at]?.id;
            if (queuedInputId === undefined) return;
            session.closeMenu();
            session.run(() =>
              change(session, () => session.client.call("thread/queue/promote", { threadId, queuedInputId })),
            );
          },
        },
        {
          key: "x",
          title: "delete",
          press: (at) => {
            const queuedInputId = queue[at]?.id;
            session.closeMenu();
            if (queuedInputId !== undefined)
              again(at)(() =>
                change(session, () =>
                  session.client.call("thread/queue/delete", { threadId, queuedInputId }),
                ),
              );
          },
        },
      ],
    },
    Math.max(0, Math.min(selected, queue.length - 1)),
  );
}

/** Takes an input out of the queue and into the composer. The turn continues. */
async function takeBack(
  session: SessionContext,
  threadId: string,
  { id, input }: QueuedInput,
): Promise<void> {
  await change(session, () => session.client.call("thread/queue/delete", { threadId, queuedInputId: id }));
  session.composer.setContent(contentOf(input));
}

async function reorder(
  session: SessionContext,
  threadId: string,
  queue: readonly QueuedInput[],
  at: number,
  by: 1 | -1,
): Promise<void> {
  const ids = queue.map(({ id }) => id);
  const [moved] = ids.splice(at, 1);
  if (moved === undefined) return;
  ids.splice(Math.max(0, at + by), 0, moved);
  await change(session, () => session.client.call("thread/queue/reorder", { threadId, queuedInputIds: ids }));
}

/** Changes the queue. That is not said to be the work of another client. */
function change<Value>({ ownChanges }: SessionContext, call: () => Promise<Value>): Promise<Value> {
  return ownChanges.ask("thread/queue/changed", call);
}
