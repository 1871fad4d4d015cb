import {
  CODEX_CLIENT_REQUESTS,
  CODEX_EXPERIMENTAL_FIELDS,
  CODEX_EXPERIMENTAL_REQUESTS,
  CODEX_HOST_REQUESTS,
  CODEX_SERVER_NOTIFICATIONS,
} from "@flint/protocol/codex";
import { needs, type WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { CodexSchemas } from "./schemas.ts";
import { CodexServerUnderTest, type Fields } from "./server-under-test.ts";
import { playAll } from "./wide-script.ts";

/** Notifications of Codex that Flint reads as a client but never sends as a server. */
const NEVER_SAID = ["mcpServer/startupStatus/updated"];

/** Only an agent that people log in to takes or sends these; login.test.ts checks them with the real Codex. */
const LOGIN_REQUESTS = ["account/login/start", "account/login/cancel", "account/logout"];
const LOGIN_NOTIFICATIONS = ["account/login/completed", "account/updated"];

/** The requests that are asked of Codex itself and not of the machine. */
const OWN_REQUESTS = Object.keys(CODEX_CLIENT_REQUESTS).filter(
  (name) => !Object.hasOwn(CODEX_HOST_REQUESTS, name),
);

function problemsOf(
  client: WireClient,
  asked: ReadonlyMap<unknown, string>,
  schemas: CodexSchemas,
): string[] {
  return client.messages.flatMap((message) => {
    const problems = problemsIn(message, asked, schemas);
    return problems.map((problem) => `${String(message.method ?? asked.get(message.id))}: ${problem}`);
  });
}

function problemsIn(message: Fields, asked: ReadonlyMap<unknown, string>, schemas: CodexSchemas): string[] {
  if (message.method !== undefined) {
    return "id" in message ? schemas.serverRequest(message) : schemas.notification(message);
  }
  const method = asked.get(message.id) ?? "";
  // Codex has dropped this one, so it prints no schema for it.
  if (message.error !== undefined || method === "thread/rollback") return [];
  return schemas.answer(method, message.result);
}

describe("what a Codex client is sent", () => {
  needs("codex")(
    "[S2-80] [S2-81] [S2-82] fits the schemas that Codex prints, and every message is seen",
    async () => {
      const schemas = await CodexSchemas.print();
      const played = await playAll((atEnd) => onTestFinished(atEnd), CodexServerUnderTest);
      const problems = played.flatMap(({ client, asked }) => problemsOf(client, asked, schemas));
      expect([...new Set(problems)]).toEqual([]);
      const sent = new Set(
        played.flatMap(({ client }) => client.messages.map(({ method }) => String(method))),
      );
      const missing = Object.keys(CODEX_SERVER_NOTIFICATIONS).filter((name) => !sent.has(name));
      expect(missing.sort()).toEqual([...NEVER_SAID, ...LOGIN_NOTIFICATIONS].sort());
      const requested = new Set(played.flatMap(({ asked }) => [...asked.values()]));
      expect(OWN_REQUESTS.filter((name) => !requested.has(name)).sort()).toEqual([...LOGIN_REQUESTS].sort());
      expect(OWN_REQUESTS.filter((name) => !schemas.hasRequest(name))).toEqual(["thread/rollback"]);
    },
    60_000,
  );

  needs("codex")("is rejected as experimental exactly where Codex rejects it", async () => {
    const [all, stable] = await Promise.all([CodexSchemas.print(), CodexSchemas.print([])]);
    const names = Object.keys(CODEX_CLIENT_REQUESTS).filter((name) => all.hasRequest(name));
    const experimental = names.filter((name) => !stable.hasRequest(name));
    expect([...CODEX_EXPERIMENTAL_REQUESTS].sort()).toEqual(experimental.sort());
    for (const name of names.filter((other) => stable.hasRequest(other))) {
      const known = new Set(stable.fieldsOf(name));
      const further = all.fieldsOf(name).filter((field) => !known.has(field));
      expect([name, ...(CODEX_EXPERIMENTAL_FIELDS[name] ?? []).toSorted()]).toEqual([
        name,
        ...further.sort(),
      ]);
    }
  });

  needs("codex")(
    "[S2-81] would fail with a field that Codex does not have, or without one that it needs",
    async () => {
      const schemas = await CodexSchemas.print();
      const good = { method: "thread/name/updated", params: { threadId: "t", threadName: "n" } };
      expect(schemas.notification(good)).toEqual([]);
      const misspelt = { ...good, params: { ...good.params, name: "n" } };
      expect(schemas.notification(misspelt)).toEqual(["thread/name/updated: unknown field /params/name"]);
      expect(schemas.notification({ ...good, params: {} })).not.toEqual([]);
      expect(schemas.notification({ ...good, params: { threadId: 1 } })).not.toEqual([]);
    },
  );
});
