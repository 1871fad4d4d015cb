import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { agentProgram, temporaryFolder } from "@flint/testkit";

type AtEnd = (cleanUp: () => void | Promise<void>) => void;

/** A web page on an origin of its own, which runs a script and sends back what comes of it. */
export class ReportingPage {
  readonly origin: string;
  readonly #report: Promise<string>;

  private constructor(origin: string, report: Promise<string>) {
    this.origin = origin;
    this.#report = report;
  }

  /** The script is the body of an async function; what it returns is the report. */
  static async serve(script: () => string, atEnd: AtEnd): Promise<ReportingPage> {
    let received: (report: string) => void = () => {};
    const report = new Promise<string>((resolve) => {
      received = resolve;
    });
    const server = createServer(async (request, response) => {
      if (request.method !== "POST")
        return void response.setHeader("content-type", "text/html").end(page(script));
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      response.end();
      received(Buffer.concat(pieces).toString());
    });
    server.listen(0, "127.0.0.1");
    atEnd(() => void server.close());
    await once(server, "listening");
    // An address of a listening server always has a port.
    const { port } = server.address() as AddressInfo;
    return new ReportingPage(`http://127.0.0.1:${port}`, report);
  }

  /** Opens the page in the real browser and resolves with what its script found out. */
  async visit(atEnd: AtEnd): Promise<unknown> {
    const { path } = await temporaryFolder();
    const args = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-port=0"];
    const browser = spawn(
      agentProgram("chromium") ?? "chromium",
      [...args, `--user-data-dir=${path}`, this.origin],
      {
        env: { PATH: process.env.PATH, HOME: path },
        stdio: "ignore",
        // The program on the path may be a script that starts the browser; both are ended as one group.
        detached: true,
      },
    );
    const gone = new Promise<never>((_, reject) => {
      browser.once("error", reject);
      browser.once("exit", (code) => reject(new Error(`The browser ended with ${code}.`)));
    });
    const ended = once(browser, "close");
    gone.catch(() => undefined);
    atEnd(async () => {
      if (browser.pid !== undefined && browser.exitCode === null) process.kill(-browser.pid, "SIGTERM");
      await ended;
    });
    return JSON.parse(await Promise.race([this.#report, gone]));
  }
}

function page(script: () => string): string {
  return `<script>(async () => { ${script()} })()
    .catch((error) => ({ failed: String(error) }))
    .then((report) => fetch("/", { method: "POST", body: JSON.stringify(report) }))</script>`;
}
