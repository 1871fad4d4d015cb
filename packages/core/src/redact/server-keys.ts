import type { McpServerConfig } from "../ports/index.ts";
import { secretsIn } from "./environment.ts";

/** Headers by which somebody is known, beside those whose names say that they hold a key. */
const IDENTIFYING = /^(?:proxy-)?authorization$|^cookie$/i;

/** What is shorter is too likely to be an ordinary word. */
const SHORTEST = 12;

/**
 * The keys that an MCP server is given. Other settings of it, such as folders and addresses, are ordinary text that
 * people have to be able to read in what they are asked.
 */
export function mcpServerSecrets(server: McpServerConfig): string[] {
  if (server.type === "stdio") return secretsIn(server.env);
  const named = Object.entries(server.headers).map(([name, value]) => [
    IDENTIFYING.test(name) ? "TOKEN" : name.replaceAll("-", "_"),
    value.replace(/^(?:Bearer|Basic) /i, ""),
  ]);
  return named
    .flatMap(([name = "", value = ""]) => secretsIn({ [name]: value }))
    .filter((key) => key.length >= SHORTEST);
}
