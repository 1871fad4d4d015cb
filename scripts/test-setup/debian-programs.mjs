import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { debianProgram, fetchDebian } from "./debian.mjs";
import { isExecutable, onPath, run } from "./machine.mjs";

/** The namespaces the sandbox needs; a container may have the program and still forbid them. */
const SANDBOX =
  "--ro-bind / / --dev /dev --proc /proc --unshare-user --unshare-net --unshare-pid --cap-drop ALL --disable-userns --die-with-parent -- true";

/**
 * A program of Debian: that of the machine if it works, or else a private copy. `trial` are the arguments with which
 * it shows that it works, `contents` what the copy is made of.
 */
function debianPart({ name, names = [name], trial, contents, ...rest }) {
  const copy = debianProgram(name);
  return {
    name,
    hint: `apt-get install ${contents.packages[0]}`,
    async find() {
      const reasons = [];
      for (const [path, how] of [
        [onPath(...names), "on PATH"],
        [copy, "private copy"],
      ]) {
        if (path === undefined || !isExecutable(path)) continue;
        const tried = await run(path, trial);
        if (tried.ok) return { path, how };
        reasons.push(`${path} is there but does not work: ${tried.reason}`);
      }
      return reasons.length === 0 ? undefined : { reason: reasons.join("; ") };
    },
    fetch: () => fetchDebian(name, contents),
    ...rest,
  };
}

/** Bubblewrap, which holds commands in their sandbox. */
export const bwrap = debianPart({
  name: "bwrap",
  onPath: true,
  trial: SANDBOX.split(" "),
  hint: "apt-get install bubblewrap, and allow user namespaces",
  contents: { packages: ["bubblewrap"], program: "usr/bin/bwrap" },
});

/** Git, for everything that looks at changes. */
export const git = debianPart({
  name: "git",
  onPath: true,
  trial: ["--version"],
  contents: {
    packages: ["git"],
    program: "usr/bin/git",
    script: [
      'export GIT_EXEC_PATH="$here/files/usr/lib/git-core"',
      'export GIT_TEMPLATE_DIR="$here/files/usr/share/git-core/templates"',
    ],
  },
});

/** Programs that reach the network, to be led through a proxy. */
export const curl = debianPart({
  name: "curl",
  onPath: true,
  trial: ["--version"],
  contents: { packages: ["curl"], program: "usr/bin/curl" },
});
/** Addresses of a network that a test makes. */
export const ip = debianPart({
  name: "ip",
  onPath: true,
  trial: ["-V"],
  contents: { packages: ["iproute2"], program: "bin/ip" },
});
export const ssh = debianPart({
  name: "ssh",
  onPath: true,
  trial: ["-V"],
  contents: { packages: ["openssh-client"], program: "usr/bin/ssh" },
});
export const sshd = debianPart({
  name: "sshd",
  trial: ["-V"],
  contents: { packages: ["openssh-server"], program: "usr/sbin/sshd" },
});
export const pip = debianPart({
  name: "pip",
  onPath: true,
  trial: ["--version"],
  contents: {
    packages: ["python3-pip"],
    program: "usr/bin/pip3",
    script: [
      // The packages bring an interpreter where the machine has none.
      'python="$here/files/usr/bin/python3"; [ -x "$python" ] || python=/usr/bin/python3',
      'export PYTHONPATH="$here/files/usr/lib/python3/dist-packages"',
      'exec "$python" -m pip "$@"',
    ],
  },
});

/** A terminal without a screen, in which tests drive a full-screen program. */
export const tmux = debianPart({
  name: "tmux",
  onPath: true,
  serves: "agents",
  trial: ["-V"],
  contents: { packages: ["tmux"], program: "usr/bin/tmux" },
});

const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir prefix="relative">files/usr/share/fonts</dir><dir>/usr/share/fonts</dir></fontconfig>
`;

const browser = debianPart({
  name: "chromium",
  names: ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"],
  trial: ["--version"],
  hint: "set FLINT_CHROMIUM, or apt-get install chromium-headless-shell",
  contents: {
    packages: ["chromium-headless-shell", "fonts-dejavu-core"],
    program: "usr/lib/chromium/chromium-headless-shell",
    script: ['export FONTCONFIG_FILE="$here/fonts.conf"'],
    finish: (folder) => writeFileSync(join(folder, "fonts.conf"), FONTS),
  },
});

/** A browser without a window, that tests let web pages run in. */
export const chromium = {
  ...browser,
  find() {
    const chosen = process.env.FLINT_CHROMIUM;
    if (chosen && !isExecutable(chosen))
      throw new Error(`FLINT_CHROMIUM names ${chosen}, which cannot be run`);
    return chosen ? { path: chosen, how: "FLINT_CHROMIUM" } : browser.find();
  },
};

const server = debianPart({
  name: "redis",
  names: ["redis-server", "valkey-server"],
  trial: ["--version"],
  hint: "set REDIS_URL, or put redis-server or valkey-server on PATH",
  contents: {
    // The server itself is in there, under another name; the one binary plays every role by the name it is called with.
    packages: ["redis-tools"],
    program: "server/redis-server",
    finish(folder) {
      mkdirSync(join(folder, "files/server"));
      symlinkSync("../usr/bin/redis-check-rdb", join(folder, "files/server/redis-server"));
    },
  },
});

/** A Redis server that tests start for themselves, or the address of one that is meant for tests. */
export const redis = {
  ...server,
  // The address may hold a password, so it is neither printed nor written down.
  find: () => (process.env.REDIS_URL ? { path: "REDIS_URL", how: "from the environment" } : server.find()),
};
