import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Runs a program until it ends.
 * @throws Error with its last output when it fails or times out
 */
export async function runCommand(
  program: string,
  args: readonly string[],
  options: { seconds: number; environment?: NodeJS.ProcessEnv },
): Promise<void> {
  const child = spawn(program, [...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: options.environment ?? process.env,
    timeout: options.seconds * 1000,
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (words += text));
  // not 'close': the master of a shared connection keeps the pipes open
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  if (code !== 0) throw new Error(`${program} ended with ${signal ?? code}:\n${words.slice(-2000)}`);
}
