import type { Clock } from "@flint/core/ports";
import { type Client, ClientConnection, type ClientHandler, type Frontend } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import type { ThreadEvent } from "@flint/protocol";
import { describe, expect, test } from "vitest";
import { CLIENT_SCRIPTS } from "../../../../frontends/src/testing/client-scripts.ts";
import {
  checkAnswerFirst,
  checkBackground,
  checkClose,
  checkEncodeOnce,
  checkErrors,
  checkEventShown,
  checkItemShown,
} from "./live-checks.ts";
import type { FrontendUnderTest } from "./live-frontend.ts";

/** Flint's own front end with its handlers changed. */
function broken(
  serve: (frontend: Frontend, client: Client, clock: Clock) => ClientHandler,
): FrontendUnderTest<Frontend> {
  return {
    create: (clock) => {
      const frontend = flintFrontend();
      const { vocabulary, initializeFirst } = frontend;
      return { vocabulary, initializeFirst, serve: (client) => serve(frontend, client, clock) };
    },
    connect: (frontend, engine, transport) => new ClientConnection(frontend, engine, transport),
    script: CLIENT_SCRIPTS.flint,
    notShown: { events: [], items: [] },
  };
}

/** A handler of which some methods are changed. */
function changed(handler: ClientHandler, changes: Partial<ClientHandler>): ClientHandler {
  return {
    request: (params, context) => handler.request(params, context),
    notification: (method, params) => handler.notification(method, params),
    event: (event) => handler.event(event),
    errorOf: (error) => handler.errorOf(error),
    close: () => handler.close?.(),
    ...changes,
  };
}

const dropping = (isDropped: (event: ThreadEvent) => boolean) =>
  broken((frontend, client) => {
    const handler = frontend.serve(client);
    return changed(handler, { event: (event) => (isDropped(event) ? undefined : handler.event(event)) });
  });

describe("the checks of a front end", () => {
  test("notice a front end that answers an unknown method", async () => {
    const lenient = broken((frontend, client) => {
      const handler = frontend.serve(client);
      return changed(handler, {
        request: async (params, context) =>
          context.method.includes("such") ? context.reply({}) : handler.request(params, context),
      });
    });
    await expect(checkErrors(lenient)).rejects.toThrow("no/such/method with {} is not an error");
  });

  test("notice an event that is sent before the answer", async () => {
    const hasty = broken((frontend, client) => {
      const handler = frontend.serve(client);
      return changed(handler, {
        request: async (params, context) => {
          if (context.method !== "thread/start") return handler.request(params, context);
          await client.core.call("thread/start", Object(params), (result) => {
            client.notify("thread/started", Object(result));
            context.reply(result);
          });
        },
      });
    });
    await expect(checkAnswerFirst(hasty)).rejects.toThrow("thread/started is sent before the answer");
  });

  test("notice a front end that stops no command", async () => {
    const idle = broken((frontend, client) => {
      const handler = frontend.serve(client);
      return changed(handler, {
        request: async (params, context) =>
          context.method.endsWith("/stop")
            ? context.reply({ stopped: [] })
            : handler.request(params, context),
      });
    });
    await expect(checkBackground(idle)).rejects.toThrow('sees "p1 p2", and "p1 p2" after it stopped p1');
  });

  test("notice an event that is encoded for each client", async () => {
    const wasteful = broken((_frontend, client) => flintFrontend().serve(client));
    await expect(checkEncodeOnce(wasteful)).rejects.toThrow(/is encoded \d \+ 1 \+ 1 times for 3 clients/);
  });

  test("notice an event and an item that are silently not shown, and a list that is wrong", async () => {
    const quiet = dropping(({ type }) => type === "warning");
    await expect(checkEventShown(quiet, "warning")).rejects.toThrow("not shown, and not listed as such");
    const listed = { ...quiet, notShown: { events: ["error"] as const, items: [] } };
    await expect(checkEventShown(listed, "error")).rejects.toThrow("is listed as not shown, but it is");
    const hidden = dropping(({ data }) => "item" in data && data.item.type === "webSearch");
    await expect(checkItemShown(hidden, "webSearch")).rejects.toThrow("not shown, and not listed as such");
    await checkItemShown(hidden, "agentMessage");
  });

  test("notice what is still sent to a client that has disconnected", async () => {
    const deferring = broken((frontend, client, clock) => {
      const handler = frontend.serve(client);
      return changed(handler, {
        event: (event) => {
          if (event.type === "item/started") clock.after(10, () => handler.event(event));
          else handler.event(event);
        },
      });
    });
    await expect(checkClose(deferring)).rejects.toThrow("a timer of a client that is gone still waits");
  });
});
