import { describeEachMechanism } from "@flint/testkit";
import { expect } from "vitest";
import { CommandSandbox } from "../command-sandbox.ts";
import { attacks, expectUntouched, home, run } from "./testing/guarded-home.ts";

// While a command may write everywhere, no server may listen anywhere, and what other tests remove is missed.
describeEachMechanism("Flint's own files, confined by %s", (name, test) => {
  test("a command that may write the whole file system does not get at them either [P32]", async () => {
    const known = home();
    const options = { environment: process.env, mechanisms: [name], guarded: known.places };
    const sandbox = new CommandSandbox(options);
    const above = ["/var", "/var/tmp", known.path];
    // What is a mount of its own cannot be moved. That is looked at and not tried: it is the machine's.
    const held = above.map((path) => `grep -q ' ${path} ' /proc/self/mountinfo && echo held`);
    const script = [attacks(known), ...held, `echo x > ${known.path}/file && echo fine`].join("\n");
    expect(await run(sandbox, script, "/")).toBe("held\nheld\nheld\nfine\ndone\n");
    expectUntouched(known);
  });
});
