import { createInterface } from "node:readline/promises";

/**
 * Asks a yes-or-no question; every other answer counts as no.
 *
 * @returns undefined without a terminal
 */
export async function askPerson(question: string): Promise<boolean | undefined> {
  if (!process.stdin.isTTY) return undefined;
  const dialogue = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await dialogue.question(question)).trim());
  } finally {
    dialogue.close();
  }
}
