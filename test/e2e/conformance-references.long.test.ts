import { agentProgram, needs } from "@flint/testkit";
import { describe, expect } from "vitest";
import { conformance, LONG, notPassed, PORT, recorded } from "./conformance-run.ts";

describe("flint conformance on real servers", () => {
  needs("codex")(
    "the Codex app-server passes the checks and matches its recording",
    async () => {
      const codex = [agentProgram("codex") ?? "codex", "app-server", "--listen", PORT];
      const compare = ["--compare", recorded("codex-answers.json")];
      const ran = await conformance([
        "--protocol",
        "codex",
        "--offline-model",
        "--json",
        ...compare,
        "--",
        ...codex,
      ]);
      expect(notPassed(ran)).toEqual([]);
      expect(ran.code).toBe(0);
    },
    LONG,
  );

  needs("codex-acp")(
    "codex-acp passes the checks for ACP agents and matches its recording",
    async () => {
      const agent = agentProgram("codex-acp") ?? "codex-acp";
      const compare = ["--compare", recorded("acp-answers.json")];
      const env = { CODEX_PATH: agentProgram("codex") ?? "codex" };
      const ran = await conformance(
        ["--protocol", "acp", "--offline-model", "--json", ...compare, "--", agent],
        env,
      );
      expect(notPassed(ran)).toEqual([]);
      expect(ran.code).toBe(0);
    },
    LONG,
  );
});
