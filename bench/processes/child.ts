import { type ChildProcess, spawn } from "node:child_process";

const running = new Set<ChildProcess>();
process.once("exit", endChildren);

/** Remembers a process, because nothing that a measurement starts may outlive it. */
export function watchChild(child: ChildProcess): void {
  running.add(child);
  child.once("close", () => running.delete(child));
}

/** Ends whatever a measurement that failed has left running. */
export function endChildren(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Runs `node` to its end and gives what it wrote. Rejects if it fails. */
export function runNode(nodeArguments: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, nodeArguments, { stdio: ["ignore", "pipe", "inherit"] });
    watchChild(child);
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(output);
      else reject(new Error(`node ${nodeArguments[0]} failed (${signal ?? code}).`));
    });
  });
}

/** Runs a program that writes one number. */
export async function runForNumber(nodeArguments: readonly string[]): Promise<number> {
  const output = await runNode(nodeArguments);
  const number = Number(output);
  if (output.trim() === "" || !Number.isFinite(number)) {
    throw new Error(`node ${nodeArguments[0]} wrote no number but ${JSON.stringify(output.slice(0, 100))}.`);
  }
  return number;
}
