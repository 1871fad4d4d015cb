import { needs } from "@flint/testkit";
import { describe, expect, onTestFinished } from "vitest";
import { ReportingPage } from "./clients/browser.ts";
import { ServerFixture } from "./listening-server.ts";

/**
 * Returns a page's attempts on a server: a connection that sends at once, and requests whose answers it may
 * not even read.
 */
function attempt(url: string): string {
  const http = url.replace("ws:", "http:");
  const initialize = JSON.stringify({
    id: 1,
    method: "initialize",
    params: { clientInfo: { name: "page", version: "1" } },
  });
  return `
    const socket = await new Promise((resolve) => {
      const socket = new WebSocket("${url}/flint");
      socket.onopen = () => socket.send(${JSON.stringify(initialize)});
      socket.onmessage = ({ data }) => resolve("answered " + Object.keys(JSON.parse(data)));
      socket.onerror = () => resolve("refused");
    });
    const read = await fetch("${http}/healthz").then((answer) => answer.status, () => "refused");
    const sent = await fetch("${http}/flint", { method: "POST", mode: "no-cors", body: ${JSON.stringify(initialize)} })
      .then((answer) => answer.type, () => "refused");
    return { socket, read, sent };`;
}

describe("a web page in a real browser", { timeout: 60_000 }, () => {
  needs("chromium")("on another origin cannot connect, even to a server without a token [P29]", async () => {
    const fixture = await ServerFixture.make();
    const { addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0", "--no-token"]);
    const page = await ReportingPage.serve(() => attempt(addresses[0] ?? ""), onTestFinished);
    // What is sent blindly gets an answer that the page cannot look into; the server has refused it all the same.
    expect(await page.visit(onTestFinished)).toEqual({ socket: "refused", read: "refused", sent: "opaque" });
  });

  needs("chromium")("whose origin is allowed can connect", async () => {
    const fixture = await ServerFixture.make();
    let url = "";
    const page = await ReportingPage.serve(() => attempt(url), onTestFinished);
    const flags = ["--no-token", "--allow-origin", page.origin];
    const { addresses } = await fixture.listening(["--listen", "ws://127.0.0.1:0", ...flags]);
    url = addresses[0] ?? "";
    expect(await page.visit(onTestFinished)).toMatchObject({ socket: "answered id,result" });
  });
});
