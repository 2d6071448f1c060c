import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { run } from "../../sandbox/nodes/command";

/** An OpenPGP key of its own, in a key ring of its own, as the maintainers of a package repository have one. */
export class SigningKey {
  private constructor(
    private readonly home: string,
    /** The public half, in ASCII armor. */
    readonly publicKey: string,
    /** 40 hexadecimal digits. */
    readonly fingerprint: string,
  ) {}

  static async generate(): Promise<SigningKey> {
    // a short path: gpg's agent listens on a socket in it
    const home = await mkdtemp(path.join(tmpdir(), "foresail-gpg-"));
    const user = "test repository <test@example.com>";
    await gpg(home, ["--passphrase", "", "--quick-generate-key", user, "ed25519", "sign", "never"]);
    const listed = await gpg(home, ["--list-keys", "--with-colons"]);
    const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(listed)?.[1] ?? "";
    return new SigningKey(home, await gpg(home, ["--armor", "--export"]), fingerprint);
  }

  /** The text with this key's inline signature, as in an InRelease file. */
  async sign(text: string): Promise<string> {
    const file = path.join(this.home, "text");
    await writeFile(file, text);
    await gpg(this.home, ["--yes", "--clearsign", "--output", `${file}.signed`, file]);
    return readFile(`${file}.signed`, "utf8");
  }

  /** Ends the key ring's agent and removes the key. */
  async remove(): Promise<void> {
    await run("gpgconf", ["--homedir", this.home, "--kill", "gpg-agent"]);
    await rm(this.home, { recursive: true, force: true });
  }
}

function gpg(home: string, args: readonly string[]): Promise<string> {
  return run("gpg", ["--homedir", home, "--batch", "--quiet", "--no-tty", ...args]);
}
