import { CODEX_VERSION } from "@flint/protocol/codex";
import type { Handler } from "../visit.ts";

/** Says what this is: a Codex of the version whose words are spoken, as far as a client can tell. */
export const hello: Handler<"initialize"> = (_params, { host, hello }, reply) => {
  const { name, version } = hello;
  reply({
    userAgent: `${name}/${CODEX_VERSION} (flint) (${name}; ${version})`,
    codexHome: host.home,
    platformFamily: process.platform === "win32" ? "windows" : "unix",
    platformOs: process.platform === "darwin" ? "macos" : process.platform,
  });
};
