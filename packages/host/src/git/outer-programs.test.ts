import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@flint/testkit";
import { expect } from "vitest";
import { newFolder } from "../sandbox/testing/fixture.ts";
import { newRepository, TAKEN } from "../sandbox/testing/repository.ts";

const confined = needs("bwrap");
const COMMIT = "echo two >> a.txt; git commit -qam two";

/** A file outside of the workspace that exists as soon as a program that was planted ran outside. */
function outsideMark() {
  const folder = newFolder();
  return { folder, mark: join(folder, "ran-outside") };
}

confined(
  "a program named git that an agent puts on the user's search path runs nowhere outside",
  async () => {
    const { mark } = outsideMark();
    const environment = { ...process.env };
    const { agent, take, git } = await newRepository({
      environment,
      prepare: async (path) => {
        environment.PATH = `${path}/bin:${environment.PATH}`;
        return undefined;
      },
    });
    const plant = `printf '#!/bin/sh\ntouch ${mark}\nexec /usr/bin/git "$@"\n' > bin/git; chmod +x bin/git`;
    await agent(`${COMMIT}; mkdir bin; ${plant}`);
    expect(await take()).toEqual(TAKEN);
    expect(await git("log", "--format=%s")).toBe("two\nfirst\n");
    expect(existsSync(mark)).toBe(false);
  },
);

confined("a program that a repository names as the server of its remote runs nowhere outside", async () => {
  const { folder, mark } = outsideMark();
  const program = join(folder, "program");
  await writeFile(program, `#!/bin/sh\ntouch ${mark}\n`, { mode: 0o755 });
  const { agent, git, path, offered } = await newRepository();
  await agent(COMMIT);
  const blob = (await git("rev-parse", "HEAD:a.txt")).trim();
  await git("config", "core.repositoryFormatVersion", "1");
  await git("config", "extensions.partialClone", "origin");
  await git("config", "remote.origin.promisor", "true");
  await git("config", "remote.origin.url", path);
  await git("config", "remote.origin.uploadpack", program);
  // Git would fetch it to show the difference.
  await rm(join(path, ".git/objects", blob.slice(0, 2), blob.slice(2)));
  expect(await (await offered()).accept()).toEqual(TAKEN);
  expect(existsSync(mark)).toBe(false);
});
