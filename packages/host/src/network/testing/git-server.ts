import { spawn } from "node:child_process";
import type { RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";

/** Serves the repositories of a folder with git's own program for web servers, and lets anyone push. */
export function gitServer(root: string): RequestListener {
  return (request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "https://git.example");
    const backend = spawn("git", ["http-backend"], {
      stdio: ["pipe", "pipe", "inherit"],
      env: {
        ...{ PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null" },
        ...{ GIT_PROJECT_ROOT: root, GIT_HTTP_EXPORT_ALL: "1", REMOTE_USER: "ann" },
        ...{ REQUEST_METHOD: request.method ?? "", PATH_INFO: pathname, QUERY_STRING: search.slice(1) },
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      },
    });
    request.pipe(backend.stdin).on("error", () => undefined);
    void buffer(backend.stdout).then((printed) => {
      const end = printed.indexOf("\r\n\r\n");
      for (const line of printed.toString("latin1", 0, end).split("\r\n")) {
        const [name = "", value = ""] = line.split(": ");
        if (name === "Status") response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(printed.subarray(end + 4));
    });
  };
}
