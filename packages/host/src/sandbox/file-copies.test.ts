import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { CopiedFile } from "@flint/core/ports";
import { describeEachMechanism } from "@flint/testkit";
import { test as anywhere, expect } from "vitest";
import { CommandSandbox } from "./command-sandbox.ts";
import { FileCopies } from "./file-copies.ts";
import { newFolder } from "./testing/fixture.ts";

/** A login may be anything that begins like one. */
const LOGIN: CopiedFile = { name: "login.json", accepts: (_, after) => after.startsWith("login") };

anywhere("of two changes that of the original counts", async () => {
  const folder = newFolder();
  const [original, copy] = [join(folder, "original"), join(folder, "copy")];
  writeFileSync(original, "login 1");
  const copies = await FileCopies.start([{ original, copy, accepts: () => true }], {
    now: () => 0,
    monotonic: () => 0,
    after: () => () => undefined,
  });
  writeFileSync(copy, "login inside");
  writeFileSync(original, "login outside");
  await copies.stop();
  expect([readFileSync(original, "utf8"), readFileSync(copy, "utf8")]).toEqual([
    "login outside",
    "login outside",
  ]);
});

describeEachMechanism("a copied file with %s", (mechanism, test) => {
  function setup({ parent = "/var/tmp", login = "login 1" as string | undefined } = {}) {
    const home = newFolder(parent);
    const folder = join(home, ".agent");
    const state = join(home, "state");
    for (const path of [folder, join(home, "workspace")]) mkdirSync(path);
    if (login !== undefined) writeFileSync(join(folder, LOGIN.name), login);
    return { home, folder, state, original: join(folder, LOGIN.name) };
  }
  type Setup = ReturnType<typeof setup>;

  async function start(
    { home, folder, state }: Setup,
    script: string,
    copies: readonly CopiedFile[] = [LOGIN],
  ) {
    const sandbox = new CommandSandbox({
      environment: process.env,
      mechanisms: [mechanism],
      scopeFolder: state,
    });
    const workspace = join(home, "workspace");
    return sandbox.start({
      ...{ command: ["sh", "-c", `cd $A; ${script}`], cwd: workspace, workspace },
      ...{ policy: { type: "workspaceWrite" }, environment: { A: folder } },
      privateFolders: [{ path: folder, readOnly: ["settings.json", "hooks/", "NOTES.md"], copies }],
    });
  }

  async function run(agent: Setup, script: string, copies?: readonly CopiedFile[]): Promise<string> {
    const running = await start(agent, script, copies);
    const [output, errors] = await Promise.all([text(running.stdout), text(running.stderr)]);
    await running.exited;
    return output + errors;
  }

  /** Resolves when a file has this content. */
  function becomes(path: string, content: string): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!existsSync(path) || readFileSync(path, "utf8") !== content) return;
        watcher.close();
        resolve();
      };
      const watcher = watch(join(path, ".."), check);
      check();
    });
  }

  for (const parent of ["/var/tmp", "/tmp"]) {
    test(`can be replaced, and an accepted change replaces the original (${parent})`, async () => {
      const agent = setup({ parent });
      chmodSync(agent.original, 0o644);
      const output = await run(agent, "cat login.json; echo login 2 > new; mv new login.json; ls");
      expect(output).toBe("login 1NOTES.md\nhooks\nlogin.json\nsettings.json\n");
      expect(readFileSync(agent.original, "utf8")).toBe("login 2\n");
      expect(statSync(agent.original).mode & 0o777).toBe(0o600);
      expect(readdirSync(agent.folder)).toEqual(["login.json"]);
      expect(readdirSync(join(agent.state, "agents"))).toEqual([]);
    });
  }

  test("replaces the original while the program runs, and follows it", async () => {
    const agent = setup();
    const running = await start(
      agent,
      "echo login 2 > login.json; until grep -q 3 login.json; do sleep 0.05; done; cat login.json",
    );
    await becomes(agent.original, "login 2\n");
    writeFileSync(agent.original, "login 3");
    expect(await text(running.stdout)).toBe("login 3");
    await running.exited;
    expect(readFileSync(agent.original, "utf8")).toBe("login 3");
  });

  test("is made if there was none, under a listed name only", async () => {
    const agent = setup({ login: undefined });
    await run(agent, "echo login 1 > login.json; echo login 1 > other.json");
    expect(readdirSync(agent.folder)).toEqual(["login.json"]);
  });

  test("gives way to a change of the original, and is not made again if that is removed", async () => {
    const agent = setup();
    const changed = async (change: () => void) => {
      const running = await start(agent, "echo login inside > login.json; echo changed; read -r _");
      for await (const _ of running.stdout) break;
      change();
      running.stdin.end("end\n");
      await running.exited;
    };
    await changed(() => writeFileSync(agent.original, "login outside"));
    expect(readFileSync(agent.original, "utf8")).toBe("login outside");
    await changed(() => rmSync(agent.original));
    expect(existsSync(agent.original)).toBe(false);
  });

  test("is refused if it is not accepted, not a plain file, or too large", async () => {
    const tries = {
      "another kind of content": "echo other > login.json",
      "a link": "echo login 2 > x; rm login.json; ln -s x login.json",
      "a link out": "rm login.json; ln -s /etc/hostname login.json",
      "a folder": "rm login.json; mkdir login.json",
      "a pipe": "rm login.json; mkfifo login.json",
      "too large": "{ echo login; head -c 1100000 /dev/zero; } > login.json",
      "nothing at all": "rm login.json",
    };
    for (const [what, script] of Object.entries(tries)) {
      const agent = setup();
      await run(agent, script);
      expect(readFileSync(agent.original, "utf8"), what).toBe("login 1");
      expect(readdirSync(join(agent.state, "agents")), what).toEqual([]);
    }
  });

  test("only goes in if no change is accepted, from wherever it is", async () => {
    const agent = setup();
    writeFileSync(join(agent.home, "elsewhere.json"), "mine\n");
    const copies = [{ name: "config.json", original: join(agent.home, "elsewhere.json") }];
    expect(await run(agent, "cat config.json; echo evil > config.json; cat config.json", copies)).toBe(
      "mine\nevil\n",
    );
    expect(readFileSync(join(agent.home, "elsewhere.json"), "utf8")).toBe("mine\n");
    expect(readdirSync(agent.folder)).toEqual(["login.json"]);
  });

  test("replaces what a link led to when the program was started", async () => {
    const agent = setup();
    const target = join(agent.home, "dotfile");
    renameSync(agent.original, target);
    symlinkSync(target, agent.original);
    await run(agent, "echo login 2 > login.json");
    expect(readFileSync(target, "utf8")).toBe("login 2\n");
  });

  test("read-only names cannot be made, changed or replaced, whether they exist, are links or neither", async () => {
    const agent = setup();
    writeFileSync(join(agent.home, "dotfile"), "linked\n");
    symlinkSync(join(agent.home, "dotfile"), join(agent.folder, "NOTES.md"));
    mkdirSync(join(agent.folder, "hooks"));
    const output = await run(
      agent,
      `cat settings.json NOTES.md; for name in settings.json NOTES.md; do
        (echo x > $name; rm -f $name; mv -f $name old; echo x > new; mv -f new $name) 2>/dev/null; done
      (echo x > hooks/x; rm -r hooks; mv hooks old) 2>/dev/null; cat settings.json NOTES.md; ls -d hooks/*`,
    );
    expect(output).toMatch(/^\{\}\nlinked\n\{\}\nlinked\nls: /);
    expect(readFileSync(join(agent.home, "dotfile"), "utf8")).toBe("linked\n");
    expect(readdirSync(agent.folder)).toEqual(["NOTES.md", "hooks", "login.json"]);
  });

  test("is removed with everything the program left, also after a server that was killed", async () => {
    const agent = setup();
    const [own = ""] = await Promise.all([run(agent, "ls -a")]);
    expect(own).toContain("login.json");
    const running = await start(agent, "mkdir -m 000 shut; read -r _");
    const [name = ""] = readdirSync(join(agent.state, "agents"));
    const abandoned = join(agent.state, "agents", name.replace(/\d+-\w+$/, "99999999-x"));
    mkdirSync(abandoned);
    writeFileSync(join(abandoned, LOGIN.name), "login 9");
    await running.stop();
    await run(agent, "true");
    expect(readdirSync(join(agent.state, "agents"))).toEqual([]);
    expect(readFileSync(agent.original, "utf8")).toBe("login 1");
  });
});
