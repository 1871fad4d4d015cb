import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Check, CheckGroup } from "../check.ts";
import {
  anyOf,
  at,
  BOOLEAN,
  expectFit,
  Failed,
  LIST,
  listAt,
  NON_EMPTY_ARRAY,
  NON_EMPTY_STRING,
  NULLISH,
  OBJECT,
  type Pattern,
  STRING,
} from "../wire/pattern.ts";
import { codexWire, offered } from "./client.ts";

/** Methods that answer out of what the server has, without a thread. */
const READ: readonly (readonly [name: string, method: string, params: unknown, result: Pattern])[] = [
  [
    "account/read says whether a login with OpenAI is needed",
    "account/read",
    {},
    { requiresOpenaiAuth: BOOLEAN },
  ],
  ["configRequirements/read answers without params", "configRequirements/read", undefined, {}],
  ["config/read answers with the configuration", "config/read", {}, { config: OBJECT }],
  ["skills/list answers with a list by folder", "skills/list", {}, { data: LIST }],
  ["hooks/list answers with a list by folder", "hooks/list", {}, { data: LIST }],
  ["mcpServerStatus/list answers with a list", "mcpServerStatus/list", {}, { data: LIST }],
  ["permissionProfile/list answers with a list", "permissionProfile/list", {}, { data: LIST }],
  ["collaborationMode/list answers with a list", "collaborationMode/list", {}, { data: LIST }],
  ["plugin/list answers with marketplaces", "plugin/list", {}, { marketplaces: LIST }],
  ["experimentalFeature/list answers with a list", "experimentalFeature/list", {}, { data: LIST }],
  ["getAuthStatus, the older form, answers", "getAuthStatus", {}, { requiresOpenaiAuth: BOOLEAN }],
  ["config/mcpServer/reload answers {}", "config/mcpServer/reload", undefined, {}],
  [
    "account/bedrock/checkGovCloudRequirements answers no",
    "account/bedrock/checkGovCloudRequirements",
    {},
    { shouldWarn: false },
  ],
];

/** The fields that a model has to have. */
const MODEL = {
  id: NON_EMPTY_STRING,
  model: NON_EMPTY_STRING,
  displayName: NON_EMPTY_STRING,
  description: STRING,
  hidden: BOOLEAN,
  supportedReasoningEfforts: LIST,
  defaultReasoningEffort: NON_EMPTY_STRING,
  isDefault: BOOLEAN,
} as const;

/** The lists that clients ask for at their start, and small services. */
export const CATALOGUE: CheckGroup = {
  about: "Lists and services",
  checks: [
    {
      name: "model/list names at least one model, with its efforts, and one of them is the default",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const list = await wire.result("model/list", {});
        expectFit("model/list", list, { data: NON_EMPTY_ARRAY });
        const models = listAt(list, "data");
        for (const model of models) expectFit(`the model ${String(at(model, "id"))}`, model, MODEL);
        const defaults = models.filter((model) => at(model, "isDefault") === true).length;
        if (defaults !== 1) throw new Failed(`${defaults} models are the default`);
      },
    },
    ...READ.map(readable),
    {
      name: "account/rateLimits/read answers, or reports that a login is needed",
      run: async (trial) => {
        const wire = await codexWire(trial);
        const answer = await wire.ask("account/rateLimits/read");
        const refused = { code: -32600, message: /authentication required/ };
        if (answer.error !== undefined) expectFit("the refusal", answer.error, refused);
        else expectFit("the result", answer.result, { rateLimits: OBJECT });
      },
    },
    {
      name: "fs/readFile answers with the bytes of a file in base64",
      run: async (trial) => {
        const path = join(trial.cwd, `${trial.name()}.txt`);
        await writeFile(path, "hello\n");
        const answer = await offered(await codexWire(trial), "fs/readFile", { path });
        expectFit("fs/readFile", answer, { dataBase64: Buffer.from("hello\n").toString("base64") });
      },
    },
    {
      name: "fuzzyFileSearch finds a file by a part of its name",
      run: async (trial) => {
        const name = `${trial.name()}-needle.txt`;
        await writeFile(join(trial.cwd, name), "");
        const params = { query: name, roots: [trial.cwd], cancellationToken: null };
        const found = await offered(await codexWire(trial), "fuzzyFileSearch", params);
        expectFit("the first file found", at(found, "files", 0), {
          root: trial.cwd,
          path: name,
          file_name: name,
        });
      },
    },
    {
      name: "command/exec runs a command and answers with its exit code and output",
      run: async (trial) => {
        const params = { command: ["echo", "hello"], cwd: trial.cwd };
        const answer = await offered(await codexWire(trial), "command/exec", params);
        expectFit("command/exec", answer, { exitCode: 0, stdout: "hello\n", stderr: anyOf("", NULLISH) });
      },
    },
  ],
};

function readable([name, method, params, result]: (typeof READ)[number]): Check {
  return {
    name,
    run: async (trial) => {
      expectFit(method, await offered(await codexWire(trial), method, params), result);
    },
  };
}
