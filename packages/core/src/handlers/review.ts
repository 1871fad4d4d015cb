import type { ThreadHandlers } from "./handler.ts";
import { announceNewThread, createThread } from "./thread.ts";

/** Having changes reviewed. */
export const reviewHandlers: Pick<ThreadHandlers, "review/start"> = {
  async "review/start"({ target, delivery }, { thread, services, client }) {
    const wanted = { kind: "review", input: [], review: target } as const;
    if (delivery !== "detached") {
      const decided = thread.decideTurn(wanted);
      return {
        result: { turn: decided.turn, reviewThreadId: thread.id },
        events: decided.events,
        after: () => thread.start(decided.started),
      };
    }
    const { settings } = thread.log.state;
    const described = { settings, ephemeral: false, forkedFromId: thread.id };
    const { thread: review, filled: decided } = await createThread(services, described, async (created) => {
      const turn = created.decideTurn(wanted);
      await created.log.commit(turn.events);
      return turn;
    });
    return {
      result: { turn: decided.turn, reviewThreadId: review.id },
      after: () => {
        client.subscribe(review, { afterSeq: 0, first: [] }, services.options.clock.now());
        announceNewThread(services, review.log.state);
        review.start(decided.started);
      },
    };
  },
};
