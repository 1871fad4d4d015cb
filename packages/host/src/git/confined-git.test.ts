import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { newRepository } from "../sandbox/testing/repository.ts";

/** Prints what came of a vsock and of a TCP socket (an errno, or "open"), and every network interface. */
const PROBE = `perl -e 'for my $family (40, 2) { print socket(my $s, $family, 1, 0) ? "open" : $! + 0, " " }'; sed -n 's/^ *\\([^ :]*\\):.*/\\1/p' /proc/net/dev`;

/** Git stashes in what it reports, which runs this hook, once the turn is over. */
const PLANT_HOOK = `echo two >> a.txt; git commit -qam two; echo three >> a.txt; git stash -q
mkdir -p .git/hooks; printf '#!/bin/sh\\nsh ./probe > "$GIT_DIR/probed" 2>&1\\n' > .git/hooks/reference-transaction
chmod +x .git/hooks/reference-transaction`;

describeEachMechanism(
  "a hook of the agent that git runs at the end of a turn, with %s",
  (mechanism, test) => {
    test("has no network, and no socket that network namespaces do not confine", async () => {
      const { agent, offered, home } = await newRepository({ mechanism });
      const probed = join(home, "state", "git", "t1", "0", "git", "probed");
      await agent(`cat > probe <<'END'\n${PROBE}\nEND\n${PLANT_HOOK}`);
      expect(existsSync(probed)).toBe(false);
      await offered();
      expect(await readFile(probed, "utf8")).toBe("1 open lo\n");
    });
  },
);
