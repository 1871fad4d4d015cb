import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { replacePrivateFile } from "../files/private-file.ts";

/** Small programs for Node that commands load or start; they are written as files that the sandbox shows. */
export interface NodePrograms {
  /** Loaded by every Node that a command starts: sends what Node's own clients ask for through the proxy. */
  readonly preload: string;
  /** Joins stdin and stdout with a host, through the proxy: `node connect.cjs HOST PORT`, for ssh. */
  readonly connect: string;
}

/** Opens a tunnel through the proxy that the environment names. */
const TUNNEL = `
const http = require("node:http");
const proxy = new URL(process.env.HTTPS_PROXY);
const credentials = decodeURIComponent(proxy.username) + ":" + decodeURIComponent(proxy.password);

function tunnel(host, port, callback) {
  const request = http.request({
    method: "CONNECT",
    host: proxy.hostname,
    port: proxy.port,
    path: host + ":" + port,
    headers: {
      host: host + ":" + port,
      "proxy-authorization": "Basic " + Buffer.from(credentials).toString("base64"),
    },
    agent: new http.Agent(),
  });
  request.once("connect", (response, socket, head) => {
    if (response.statusCode === 200) {
      if (head.length > 0) socket.unshift(head);
      return callback(null, socket);
    }
    socket.destroy();
    const why = head.toString().trim() || "The proxy of the sandbox answered " + response.statusCode + " for " + host;
    callback(Object.assign(new Error(why), { code: "ERR_PROXY_REFUSED", host, port }));
  });
  request.once("error", (error) => {
    const why = "The proxy of the sandbox cannot be reached: " + error.message;
    callback(Object.assign(new Error(why), { code: "ERR_PROXY_UNREACHABLE", cause: error }));
  });
  request.end();
}
`;

/** Node reads the proxy variables itself since 22.21 and 24.5, if NODE_USE_ENV_PROXY is set. */
const PRELOAD = `"use strict";
const [major, minor] = process.versions.node.split(".").map(Number);
const isBuiltIn = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
if (!isBuiltIn && process.env.HTTPS_PROXY) install();

function install() {${TUNNEL}
const https = require("node:https");
const isLocal = (host) => !host || /^(localhost|127\\.[0-9.]+|\\[?::1\\]?)$/.test(host);

for (const [module, port] of [[http, 80], [https, 443]]) {
  const direct = module.Agent.prototype.createConnection;
  module.Agent.prototype.createConnection = function (options, callback) {
    if (options.socketPath || options.socket || isLocal(options.host) || !callback)
      return direct.call(this, options, callback);
    tunnel(options.host, options.port || port, (error, socket) => {
      if (error) return callback(error);
      callback(null, module === https ? direct.call(this, { ...options, socket }) : socket);
    });
  };
}

// fetch has a client of its own, which is loaded when it is first used.
const key = Symbol.for("undici.globalDispatcher.1");
const fetch = globalThis.fetch;
if (fetch === undefined) return;
let isInstalled = false;
globalThis.fetch = function (...args) {
  if (!isInstalled) {
    isInstalled = true;
    const isOwn = globalThis[key] !== undefined;
    if (!isOwn && globalThis.Response && globalThis[key]) globalThis[key] = new globalThis[key].constructor({ connect });
  }
  return fetch.apply(this, args);
};

function connect({ hostname, port, protocol, servername }, callback) {
  const isSecure = protocol === "https:";
  const secure = (socket) => {
    const tls = require("node:tls");
    const options = { socket, servername: servername || hostname, ALPNProtocols: ["http/1.1"] };
    const secured = tls.connect(options, () => callback(null, secured));
    secured.once("error", callback);
  };
  const opened = (error, socket) => (error ? callback(error) : isSecure ? secure(socket) : callback(null, socket));
  if (!isLocal(hostname)) return tunnel(hostname, port || (isSecure ? 443 : 80), opened);
  const socket = require("node:net").connect(port || (isSecure ? 443 : 80), hostname.replace(/[\\[\\]]/g, ""));
  socket.once("error", opened).once("connect", () => opened(null, socket.off("error", opened)));
}
}
`;

const CONNECT = `"use strict";
${TUNNEL}
const [host, port] = process.argv.slice(2);
tunnel(host, port, (error, socket) => {
  if (error) {
    process.stderr.write(error.message + "\\n");
    process.exit(1);
  }
  socket.on("error", () => process.exit(1)).once("close", () => process.exit());
  process.stdin.pipe(socket).pipe(process.stdout);
});
`;

/** Writes the programs into a folder, which commands must be able to read and unable to write. */
export async function writeNodePrograms(folder: string): Promise<NodePrograms> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // It may have been made looser since.
  await chmod(folder, 0o700);
  const write = async (name: string, text: string) => {
    const path = join(folder, name);
    // Another sandbox, of this process or another, may be writing it too, or about to use what is there.
    await replacePrivateFile(path, text);
    return path;
  };
  const [preload, connect] = await Promise.all([write("proxy.cjs", PRELOAD), write("connect.cjs", CONNECT)]);
  return { preload, connect };
}
