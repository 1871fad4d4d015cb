import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { attacks, expectUntouched, launch, newHome } from "../testing/fixture.ts";

// A command that may write everywhere mounts paths everywhere, also those that other tests remove meanwhile.
describeEachMechanism("Flint's own files with %s", (name, test) => {
  test("cannot be changed by a command that may write the whole file system [P32]", async () => {
    const home = newHome();
    const options = { environment: process.env, mechanisms: [name], guarded: home.guarded };
    const sandbox = new CommandSandbox(options);
    const above = ["/var", "/var/tmp", home.path];
    // A mount point cannot be moved. That is checked without trying, because these folders belong to the machine.
    const pinned = above.map((path) => `grep -q ' ${path} ' /proc/self/mountinfo && echo pinned`);
    const script = [attacks(home), ...pinned, `echo x > ${home.path}/file && echo fine`].join("\n");
    expect((await launch(sandbox, script, "/")).printed).toBe("pinned\npinned\npinned\nfine\n");
    expectUntouched(home);
  });
});
