import { createServer } from "node:net";
import { ClientConnection } from "@flint/frontends";
import { flintFrontend } from "@flint/frontends/flint";
import { streamTransport } from "@flint/rpc/node";
import { composeEngine, serveStdio } from "@flint/server";
import { readArguments } from "../../packages/cli/src/command-line/command.ts";
import { SERVER_FLAGS } from "../../packages/cli/src/command-line/flags.ts";
import { serverOptions } from "../../packages/cli/src/command-line/server-options.ts";
import { scriptedDriver } from "../../packages/testkit/src/scripted/scripted-driver.ts";
import { readScript } from "./script-text.ts";

// A server as it is shipped, except for its agent: that one does what the script in the prompt says.
// FLINT_HOME is its store. FLINT_TEST_SOCKET, if it is set, is a path at which it takes further clients.
// Its agent has a model of its own.
delete process.env.FLINT_MODEL;
const { FLINT_HOME: root, FLINT_TEST_SOCKET: socketPath } = process.env;
const { values } = readArguments(process.argv.slice(2), SERVER_FLAGS);
const engine = composeEngine({
  ...(await serverOptions(values)),
  root,
  drivers: [scriptedDriver({ scripts: readScript })],
});
if (socketPath !== undefined) {
  const frontend = flintFrontend();
  const listener = createServer(
    (socket) => new ClientConnection(frontend, engine, streamTransport(socket, socket)),
  );
  listener.listen(socketPath).unref();
}
await serveStdio(engine, flintFrontend());
process.stdout.write("", () => process.exit());
