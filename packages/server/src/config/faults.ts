import type { ConfigValues } from "./config-values.ts";
import { mcpServersOf } from "./mcp-servers.ts";
import { ConfigError, checkedDocument, parseDocument } from "./parse.ts";
import { policiesOf } from "./policies.ts";
import { nativeOptions } from "./server-config.ts";

/** Everything for which a server would refuse to start with this text as the user's configuration. */
export async function faultsIn(text: string, path: string): Promise<readonly string[]> {
  const { values, problems } = checkedDocument(await parseDocument(text, path), "user");
  return [...problems.map(({ problem }) => problem), ...togetherFaults(values)];
}

/** Values that are right one by one and do not go together. A variable that is not set yet is no fault of the file. */
function togetherFaults(values: ConfigValues): string[] {
  const checks = [
    () => policiesOf(values),
    () => mcpServersOf(values, (text) => text),
    () => nativeOptions(values),
  ];
  return checks.flatMap((check) => {
    // Expected: a ConfigError, which is what is looked for.
    try {
      check();
      return [];
    } catch (thrown) {
      if (thrown instanceof ConfigError) return [thrown.message];
      throw thrown;
    }
  });
}
