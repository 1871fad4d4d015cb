import { FRONTENDS } from "@flint/server/frontends";
import { composeEngine, serveStdio } from "@flint/server/serve";
import { noArguments, type ParsedArguments, UsageError } from "../../command-line/command.ts";
import { printError } from "../../command-line/output.ts";
import { serve } from "../serve/serve.ts";
import type { SHIM_SERVER_FLAGS } from "./flags.ts";
import { interactiveServer } from "./server-options.ts";
import { readOverrides, readSettings } from "./settings.ts";

const STDIO = "stdio://";

/** Commands of `codex app-server` that are not supported. */
const UNSUPPORTED = ["daemon", "proxy", "generate-ts", "generate-json-schema", "help"];

/**
 * `flint codex-shim app-server`: serves the client that started it over the Codex protocol. Without settings of its own
 * it joins the running server, as `flint serve --stdio` does.
 */
export async function shimAppServer(given: ParsedArguments<typeof SHIM_SERVER_FLAGS>): Promise<number> {
  rejectUnsupported(given);
  const { values } = given;
  const { settings, notes } = readSettings(await readOverrides(values.config ?? []));
  for (const note of notes) printError(note, 0);
  const { model, agent, offline, trace } = values;
  const isPlain = [model, agent, offline, trace, ...Object.values(settings)].every(
    (value) => value === undefined,
  );
  if (isPlain) return serve({ values: { protocol: "codex" }, positionals: [] });
  const frontend = FRONTENDS.codex();
  const server = await interactiveServer(values, settings);
  await serveStdio(composeEngine(server), await frontend);
  return 0;
}

function rejectUnsupported({ values, positionals }: ParsedArguments<typeof SHIM_SERVER_FLAGS>): void {
  const [command] = positionals;
  if (command !== undefined && UNSUPPORTED.includes(command)) {
    throw new UsageError(`codex-shim app-server does not support ${command}.`);
  }
  noArguments("codex-shim app-server", positionals);
  if (values.listen === undefined || values.listen === STDIO) return;
  throw new UsageError(
    `codex-shim supports only ${STDIO}, not ${values.listen}. To listen on a socket, use flint serve --listen.`,
  );
}
