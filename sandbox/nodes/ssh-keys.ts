import { randomUUID } from "node:crypto";
import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { nodeKeyFile } from "./paths";

/**
 * Returns the public key that nodes accept; the pair is generated once per project, the private key with mode 0600.
 * @returns one line of authorized_keys
 */
export async function ensureNodeKey(): Promise<string> {
  return (await ensureKeyPair(nodeKeyFile, "foresail-sandbox")).trim();
}

/**
 * Generates a node's own host key, unless it has one.
 * @param folder of ssh_host_ed25519_key
 * @returns the public key: "ssh-ed25519 AAAA…", without a comment
 */
export async function ensureHostKey(folder: string): Promise<string> {
  const line = await ensureKeyPair(path.join(folder, "ssh_host_ed25519_key"), "node");
  return line.trim().split(" ").slice(0, 2).join(" ");
}

async function ensureKeyPair(file: string, comment: string): Promise<string> {
  const existing = await readFile(`${file}.pub`, "utf8").catch(() => undefined);
  if (existing !== undefined) return existing;
  const { utils } = (await import("ssh2")).default;
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  // nodes created at the same time share one pair: the first private key written is used for all
  const draft = `${file}.${randomUUID()}`;
  const { generateKey } = await import("../../lib/ssh/generated-key.js");
  await writeFile(draft, generateKey({ comment }).private, { mode: 0o600 });
  await link(draft, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(draft);
  const key = utils.parseKey(await readFile(file));
  if (key instanceof Error) throw new Error(`${file} holds no private key: delete it. ${key.message}`);
  const line = `${key.type} ${key.getPublicSSH().toString("base64")} ${comment}\n`;
  await writeFile(draft, line, { mode: 0o644 });
  await rename(draft, `${file}.pub`);
  return line;
}
