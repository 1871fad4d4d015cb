import { spawn } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { agentProgram } from "@flint/testkit";

/** A real ssh server, and what a client needs to use it. */
export interface SshServer {
  readonly server: Server;
  /** The ssh that knows the server and has a key for it. */
  readonly command: string;
}

/**
 * OpenSSH's own server, which lets a user `git` in by a key. It runs once for each connection, as an ordinary user in a
 * sandbox of its own, because as root it wants users of the system.
 */
export function sshServer(folder: string, host: string): SshServer {
  mkdirSync(folder, { recursive: true });
  const file = (name: string, content: string) => {
    writeFileSync(join(folder, name), content, { mode: 0o600 });
    return join(folder, name);
  };
  const [own, client] = [keyPair(), keyPair()];
  const settings = [
    ...[`HostKey ${file("host_key", own.secret)}`, `AuthorizedKeysFile ${file("authorized", client.shown)}`],
    ...["UsePAM no", "StrictModes no", "PasswordAuthentication no", "PidFile none"],
  ];
  const passwd = file("passwd", `git:x:1000:1000::${folder}:/bin/sh\n`);
  const args = [
    ...["--unshare-user", "--unshare-pid", "--uid", "1000", "--gid", "1000", "--die-with-parent"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
    ...["--bind", folder, folder, "--ro-bind", passwd, "/etc/passwd"],
    ...["--", agentProgram("sshd") ?? "/usr/sbin/sshd", "-i", "-e", "-f"],
    file("sshd_config", `${settings.join("\n")}\n`),
  ];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    const child = spawn("bwrap", args, { stdio: [socket, socket, "ignore"] });
    child.once("exit", () => socket.destroy());
    socket.on("error", () => socket.destroy());
  });
  const known = file("known_hosts", `${host} ${own.shown}`);
  const options = ["IdentitiesOnly=yes", "BatchMode=yes", `UserKnownHostsFile=${known}`];
  const key = file("client_key", client.secret);
  return { server, command: ["ssh -F none -i", key, ...options.map((option) => `-o ${option}`)].join(" ") };
}

/** A key as OpenSSH stores it, and as it shows it to others. */
function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = String(privateKey.export({ type: "sec1", format: "pem" }));
  return { secret, shown: `ecdsa-sha2-nistp256 ${shownKey(publicKey)}\n` };
}

function shownKey(key: KeyObject): string {
  const { x = "", y = "" } = key.export({ format: "jwk" });
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")]);
  const parts = [Buffer.from("ecdsa-sha2-nistp256"), Buffer.from("nistp256"), point];
  return Buffer.concat(parts.flatMap((part) => [lengthOf(part), part])).toString("base64");
}

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return length;
}
