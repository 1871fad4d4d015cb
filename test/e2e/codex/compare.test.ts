import { mkdir } from "node:fs/promises";
import { agentFolder, agentProgram, needs, type Script, WireClient } from "@flint/testkit";
import { expect, onTestFinished } from "vitest";
import { offlineModel } from "../../../packages/drivers/src/testing/offline-model.ts";
import { differences } from "./outcome.ts";
import { SameScript } from "./same-script.ts";
import { CodexServerUnderTest } from "./server-under-test.ts";

/** The real app-server with the offline model. */
async function real(): Promise<SameScript> {
  const model = await offlineModel(onTestFinished);
  const { path: home } = await agentFolder();
  const cwd = `${home}/code`;
  await mkdir(cwd);
  const provider = `{name="flint",base_url="${model.url}/v1",wire_api="responses",request_max_retries=0}`;
  const flags = ["-c", "model_provider=flint", "-c", `model_providers.flint=${provider}`];
  const env = { CODEX_HOME: home };
  const client = WireClient.spawn([agentProgram("codex") ?? "codex", "app-server", ...flags], { env });
  return new SameScript(client, cwd);
}

/** Flint's server with an agent that does what the offline model would do. */
async function ours(): Promise<SameScript> {
  const server = await CodexServerUnderTest.open(onTestFinished, { scripts: scriptFor });
  return new SameScript(server.connect(), server.cwd);
}

const USAGE = { usage: { inputTokens: 5, outputTokens: 2 }, modelContextWindow: 100 } as const;

const COMPACTION = { type: "contextCompaction", id: "compaction" } as const;

function scriptFor(text: string, { kind }: { readonly kind: string }): Script {
  if (kind === "compact") {
    return [
      { emit: { type: "item/started", item: COMPACTION } },
      { emit: { type: "item/completed", item: COMPACTION } },
      USAGE,
    ];
  }
  const command = /run `(.*)`$/.exec(text)?.[1];
  if (text.endsWith("fail")) return [{ fail: { message: "No more lamps." } }];
  if (command !== undefined) return [{ command, startsFirst: true }, USAGE, { text: "Ran it." }, USAGE];
  return [{ text: "Hello." }, USAGE];
}

/** The intended differences, by their text, with the reason. Each one has to be seen. */
const ACCEPTED: readonly (readonly [pattern: RegExp, why: string])[] = [
  [
    /\.path: string there, null here$/,
    "The log of a thread is not a file that clients could read as Codex's.",
  ],
  [/\.originator: string there, null here$/, "Flint does not note which program began a thread."],
  [/AtMs: number there, null here$/, "The log keeps items without their times."],
  [
    /\.readStates?(?:\.[0-9a-f-]+)?: object there, (?:null|nothing) here$/,
    "Flint does not record what was read.",
  ],
  [/\.backwardsCursor: string there, null here$/, "Lists go forward; newer entries are sent as they happen."],
  [/^model\/list .*(?:availabilityNux|multiAgentVersion)/, "What OpenAI announces about its own models."],
  [/^a policy that does not exist /, "The names of a choice leave out the one that is an object."],
  [
    /^thread\/resume of missing .*\(thread not found\)/,
    "Clients that start a new thread instead look for this text.",
  ],
  [/^a compaction /, "The usage of a compaction is sent when it completes, like any other."],
  [/^the request for \w+ \.proposedExecpolicyAmendment/, "Flint offers a rule only for programs it knows."],
  [/^the request for \w+ \.reason: nothing there, string here$/, "Flint always sends a reason."],
  [/^a command and accept /, "A command of the real server may outlive its turn; one of Flint never does."],
  [
    /^a command and (?:decline|cancel) /,
    "A declined command completes after its thread continues, like any other.",
  ],
  [/\.name: string there, null here$/, "A fork has no name until it is given one."],
  [/^thread\/list of the archive \.data\[\]\.forkedFromId/, "Flint's list knows where a thread comes from."],
];

needs("codex")(
  "[S2-1] [S3-70] [S3-71] the Codex front end answers as the real app-server does, and in the same order",
  async () => {
    const [there, here] = await Promise.all([real(), ours()]);
    await there.play();
    await here.play();
    const found = [...there.outcomes].flatMap(([step, outcome]) =>
      differences(outcome, here.outcomes.get(step)).map((difference) => `${step} ${difference}`),
    );
    expect(found.filter((line) => !ACCEPTED.some(([pattern]) => pattern.test(line)))).toEqual([]);
    const unseen = ACCEPTED.filter(([pattern]) => !found.some((line) => pattern.test(line)));
    expect(unseen).toEqual([]);
  },
  60_000,
);
