// Finds claude-agent-acp, or fetches it as the set-up of the tests does, and writes as JSON where it is, or why there is
// none. The set-up pins its version, so figures can be compared with those of other days.
import { claudeAgentAcp } from "../../scripts/test-setup/npm-programs.mjs";
import { provide } from "../../scripts/test-setup/parts.mjs";

const found = await provide(claudeAgentAcp, (line) => process.stderr.write(`${line}\n`));
process.stdout.write(JSON.stringify(found));
