import type { AccountListener, NativeHistory, NativeSessions, Workspaces } from "@flint/core/ports";
import { NO_WORKSPACE_CONFIG } from "@flint/core/ports";
import type { WorkspaceFile } from "@flint/protocol";
import { ScriptedDriver, testEngine } from "@flint/testkit";
import { describe, expect, test } from "vitest";
import { FakeTasks } from "../testing/fake-tasks.ts";
import { SessionFixture } from "../testing/session-fixture.ts";

const ENTER = "\r";
const DOWN = "\u001b[B";
const PAGE_DOWN = "\u001b[6~";

function screenOf(session: SessionFixture): string {
  return session.terminal.screen.join("\n");
}

describe("/rules", () => {
  test.each(["inline", "plain"] as const)(
    "shows what is always allowed, and removes a rule (%s)",
    async (screen) => {
      const scripts = [[{ command: "make" }], [{ command: "make" }]];
      const session = await SessionFixture.open({ columns: 110, screen, scripts });
      await session.keys("build", ENTER, "a", "/rules", ENTER);
      expect(session.terminal.everything).toMatch(/run: make.* scripted {2}\/code/);
      expect(session.engine.rules.list()).toHaveLength(1);
      await session.keys(ENTER);
      expect(session.terminal.everything).toMatch(/No longer allowed without asking: run: make/);
      expect(session.engine.rules.list()).toEqual([]);
      await session.keys("again", ENTER);
      expect(session.terminal.everything).toContain("Allow it?");
    },
  );

  test("shows those of other folders on request", async () => {
    const session = await SessionFixture.open({ columns: 110, scripts: [[{ command: "make" }]] });
    await session.keys("build", ENTER, "a");
    const other = await SessionFixture.open({ columns: 110, engine: session.engine, folder: "/elsewhere" });
    await other.keys("/rules", ENTER);
    expect(screenOf(other)).toContain("/rules all shows those of other folders.");
    await other.keys("/rules all", ENTER);
    expect(screenOf(other)).toMatch(/run: make.* \/code/);
  });
});

describe("/trust", () => {
  const file = (path: string, lines: number): WorkspaceFile => ({
    ...{ path, sha256: `hash of ${path}`, trusted: false },
    content: Array.from({ length: lines }, (_, at) => `line ${at}\u001b[2J`).join("\n"),
  });

  /** A folder with these files, of which some are trusted. */
  class Folder implements Pick<Workspaces, "files" | "trust" | "distrust"> {
    readonly trusted = new Set<string>();
    readonly #files: readonly WorkspaceFile[];
    constructor(...files: readonly WorkspaceFile[]) {
      this.#files = files;
    }
    get workspaces(): Workspaces {
      const trust: Workspaces["trust"] = (cwd, files) => this.trust(cwd, files);
      return { ...NO_WORKSPACE_CONFIG, files: () => this.files(), trust, distrust: () => this.distrust() };
    }
    async files() {
      return this.#files.map((each) => ({ ...each, trusted: this.trusted.has(each.sha256) }));
    }
    async trust(_: string, files: readonly Pick<WorkspaceFile, "sha256">[]) {
      for (const { sha256 } of files) this.trusted.add(sha256);
    }
    async distrust() {
      this.trusted.clear();
    }
  }

  test("trusts files as they were shown, once they were read to their end, and revokes that", async () => {
    const folder = new Folder(file("AGENTS.md", 2), file(".flint/config.toml", 40));
    const session = await SessionFixture.open({ workspaces: folder.workspaces });
    await session.keys("/trust", ENTER);
    expect(screenOf(session)).toContain("AGENTS.md  not trusted; Flint");
    expect(screenOf(session)).toContain("read to the end to trust them");
    await session.keys("a");
    expect(folder.trusted.size).toBe(0);
    await session.keys(PAGE_DOWN, PAGE_DOWN);
    expect(screenOf(session)).toContain("a trust them as shown");
    await session.keys("a");
    expect([...folder.trusted]).toEqual(["hash of AGENTS.md", "hash of .flint/config.toml"]);
    expect(session.terminal.everything).toContain("Trusted: AGENTS.md, .flint/config.toml.");
    await session.keys("/trust", ENTER);
    expect(screenOf(session)).toContain("Nothing here is left to trust");
    await session.keys("q", "/trust revoke", ENTER);
    expect(folder.trusted.size).toBe(0);
    expect(session.terminal.everything).toContain("No longer trusted: AGENTS.md, .flint/config.toml.");
    expect(session.terminal.writes.join("")).not.toContain("\u001b[2J");
  });

  test("prints the files in plain mode", async () => {
    const folder = new Folder(file("AGENTS.md", 2));
    const session = await SessionFixture.open({ screen: "plain", workspaces: folder.workspaces });
    await session.keys("/trust", ENTER);
    expect(session.terminal.everything).toContain("line 1\\u{1b}[2J");
    await session.keys("a");
    expect(folder.trusted.size).toBe(1);
  });

  test("offers no file that cannot be trusted", async () => {
    const folder = new Folder({ ...file("evil", 1), steers: ["claude"], problem: "too large" });
    const session = await SessionFixture.open({ workspaces: folder.workspaces });
    await session.keys("/trust", ENTER, "a");
    expect(screenOf(session)).toContain("ignored: too large");
    expect(folder.trusted.size).toBe(0);
  });
});

describe("/import", () => {
  class ImportingDriver extends ScriptedDriver {
    readonly #cwd: string;
    constructor(cwd: string) {
      super({ scripts: [[{ text: "and on" }]] });
      this.#cwd = cwd;
    }
    async nativeSessions(): Promise<NativeSessions> {
      const found = { id: "native-1", cwd: this.#cwd, preview: "mend the roof", updatedAt: 1_700_000_000 };
      const item = { type: "agentMessage" as const, id: "m1", text: "The roof is whole." };
      const turn = { id: "n1", status: "completed" as const, items: [item], startedAt: 1, completedAt: 2 };
      const read = async (): Promise<NativeHistory> => ({
        session: found,
        turns: [turn],
        notes: ["One line could not be read."],
        model: undefined,
      });
      return { list: async () => [found], read };
    }
  }

  test("continues a session that the agent had without Flint", async () => {
    const session = await SessionFixture.open({
      engine: testEngine({ driver: new ImportingDriver("/code") }),
    });
    await session.keys("/import", ENTER);
    expect(screenOf(session)).toMatch(/▸ mend the roof {2}scripted .* \/code/);
    await session.keys(ENTER);
    expect(session.terminal.everything).toContain("The roof is whole.");
    expect(session.terminal.everything).toContain("One line could not be read.");
    await session.keys("go on", ENTER);
    expect(session.terminal.everything).toContain("and on");
  });

  test("offers those of other folders on request", async () => {
    const session = await SessionFixture.open({
      engine: testEngine({ driver: new ImportingDriver("/other") }),
    });
    await session.keys("/import", ENTER);
    expect(screenOf(session)).toContain("/import all lists those of all folders.");
    await session.keys("/import all", ENTER);
    expect(screenOf(session)).toContain("▸ mend the roof");
  });
});

describe("/task", () => {
  test("adds a task for the agent of the session, and shows it", async () => {
    const tasks = new FakeTasks();
    const session = await SessionFixture.open({ rows: 40, tasks });
    await session.keys("/task mend the roof", ENTER);
    expect(session.terminal.screen[0]).toContain("mend the roof");
    const { data } = await session.client.call("task/list", {});
    expect(data).toMatchObject([{ title: "mend the roof", executor: "scripted/steady", cwd: "/code" }]);
  });

  test("keeps what was typed if there are no tasks", async () => {
    const session = await SessionFixture.open();
    await session.keys("/task mend the roof", ENTER);
    expect(screenOf(session)).toContain("runs no tasks");
    expect(screenOf(session)).toContain("› /task mend the roof");
  });
});

describe("/budget", () => {
  test("limits the turns of a running thread, keeps other limits, and takes them back", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
    await session.keys("hi", ENTER, "/budget turn cost 2", ENTER);
    expect(screenOf(session)).toContain("Budget: $2.00 per turn, from the next turn on.");
    await session.keys("/budget turn time 600", ENTER, "/budget thread turns 20", ENTER, "/status", ENTER);
    expect(screenOf(session)).toMatch(/Budget +\$2\.00, 10m 00s per turn; 20 turns per thread/);
    await session.keys("q", "/budget turn cost none", ENTER);
    expect(screenOf(session)).toContain("Budget: 10m 00s per turn; 20 turns per thread");
    await session.keys("/budget none", ENTER);
    expect(screenOf(session)).toContain("Budget: no limits.");
  });

  test("is chosen from a list, before the first prompt too", async () => {
    const session = await SessionFixture.open({ scripts: [[{ text: "A" }]] });
    await session.keys("/budget", ENTER, DOWN, DOWN, ENTER);
    expect(screenOf(session)).toContain("How much, in seconds? none removes the limit.");
    await session.keys("60", ENTER, "/budget thread cost 5", ENTER, "hi", ENTER);
    expect(session.engine.driver.sessions[0]?.turns[0]?.settings.budget).toMatchObject({
      turn: { seconds: 60 },
      thread: { costUsd: 5 },
    });
  });

  test.each(["cost 2", "turn cost -1", "turn cost much", "turn cost 1 2", "week cost 1"])(
    "says how it is typed for %j",
    async (typed) => {
      const session = await SessionFixture.open();
      await session.keys(`/budget ${typed} `, ENTER);
      expect(screenOf(session)).toContain("Type /budget turn cost 2");
    },
  );
});

describe("/login", () => {
  class AccountDriver extends ScriptedDriver {
    readonly asked: string[] = [];
    override account = async () => ({
      account: this.isIn ? { type: "chatgpt", label: "me@here" } : null,
      requiresLogin: true,
    });
    isIn = false;
    listener: AccountListener | undefined;
    accountControl = async () => ({
      startLogin: async ({ type }: { type: string }, listener: AccountListener) => {
        this.asked.push(type);
        this.listener = listener;
        return type === "chatgpt"
          ? { type, loginId: "l1", authUrl: "https://log.in/here" }
          : { type, loginId: "l1", verificationUrl: "https://log.in/code", userCode: "ABCD" };
      },
      cancelLogin: async () => true,
      logout: async () => {
        this.isIn = false;
      },
    });
  }

  test("shows where to log in, says how it ended, and logs out again", async () => {
    const driver = new AccountDriver();
    const session = await SessionFixture.open({ engine: testEngine({ driver }) });
    await session.keys("/login", ENTER, DOWN, ENTER);
    expect(session.terminal.everything).toContain("Open https://log.in/code and enter the code ABCD");
    driver.listener?.loginEnded({ loginId: "l1", success: false, error: "too late" });
    await session.settle();
    expect(session.terminal.everything).toContain("The login to scripted failed: too late");
    await session.keys("/login", ENTER, ENTER);
    expect(session.terminal.everything).toContain("Log in at https://log.in/here");
    driver.isIn = true;
    driver.listener?.loginEnded({ loginId: "l1", success: true });
    await session.settle();
    expect(session.terminal.everything).toContain("Logged in to scripted.");
    await session.keys("/login", ENTER);
    expect(screenOf(session)).toContain("scripted is logged in: me@here.");
    await session.keys("/logout", ENTER, ENTER);
    expect(driver.isIn).toBe(true);
    await session.keys("/logout", ENTER, DOWN, ENTER);
    expect(driver.isIn).toBe(false);
  });

  test("says how to, for an agent without a way to log in here", async () => {
    const session = await SessionFixture.open();
    await session.keys("/login", ENTER, ENTER);
    expect(session.terminal.everything).toContain("has no account to log in to or out of.");
  });
});
