import { PassThrough } from "node:stream";
import { ClientConnection, type Frontend } from "@flint/frontends";
import { acpFrontend } from "@flint/frontends/acp";
import { codexFrontend } from "@flint/frontends/codex";
import { flintFrontend } from "@flint/frontends/flint";
import { harnessFrontend } from "@flint/frontends/harness";
import { FLINT, HARNESS, type Vocabulary } from "@flint/protocol";
import { CODEX } from "@flint/protocol/codex";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine } from "@flint/server";
import { scriptedDriver, temporaryFolder, WireClient } from "@flint/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { ACP } from "../../../packages/frontends/src/acp/vocabulary.ts";
import { codexHost } from "../../../packages/server/src/codex-host/codex-host.ts";
import { RandomClient } from "./random-client.ts";

const FRONTENDS: readonly (readonly [
  name: string,
  vocabulary: Vocabulary,
  frontend: (home: string) => Frontend,
])[] = [
  ["flint", FLINT, () => flintFrontend()],
  ["harness", HARNESS, () => harnessFrontend()],
  ["codex", CODEX, (home) => codexFrontend(codexHost(home))],
  ["acp", ACP, () => acpFrontend()],
];

// More of either finds more; these few are what a run of all tests has time for.
const REQUESTS = 300;
const SEEDS = [1, 2];

describe.each(FRONTENDS)("the %s front end, with random requests", (_name, vocabulary, frontend) => {
  test.each(SEEDS)(
    "answers each request once, and never with an internal error (seed %i)",
    async (seed) => {
      const { path } = await temporaryFolder();
      const scripts = (text: string) =>
        text.includes("run") ? [{ command: "true" }, { text: "Ran it." }] : [{ text: "Hello." }];
      const engine = composeEngine({
        root: path,
        cwd: path,
        drivers: [scriptedDriver({ scripts })],
        approvalPolicy: "always",
      });
      onTestFinished(() => engine.close());
      const [toServer, toClient] = [new PassThrough(), new PassThrough()];
      new ClientConnection(frontend(path), engine, streamTransport(toServer, toClient));
      const wire = WireClient.over(toClient, toServer, { header: vocabulary.header });
      const client = new RandomClient(wire, vocabulary, { seed, folder: path });
      const faults = await client.play(REQUESTS);
      expect(faults).toEqual([]);
      // Otherwise it would only have tested how requests are rejected.
      expect(client.accepted).toBeGreaterThan(REQUESTS / 4);
    },
    120_000,
  );
});
