import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, it } from "mocha";
import { type Connection, Server } from "ssh2";
import { AccountRefused, SshConnection, type SshTarget } from "../../../../lib/ssh";
import { newKey } from "../../../support/ssh-server";

/** The part of ssh2's protocol that sends a packet. */
interface Protocol {
  _packetRW: {
    write: { allocStart: number; alloc(size: number): Buffer; finalize(packet: Buffer): Buffer };
  };
  _cipher: { encrypt(packet: Buffer): void };
}

describe("a login that a machine refuses", () => {
  const closing: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  /** A server that ends each login like this, after its banner. */
  async function refusing(end: (connection: Connection) => void, banner?: string): Promise<SshTarget> {
    const key = newKey();
    const refuser = new Server({ hostKeys: [key.private], banner }, (connection) => {
      connection.on("error", () => undefined);
      connection.on("authentication", (context) =>
        context.method === "publickey" ? end(connection) : context.reject(["publickey"]),
      );
    });
    await new Promise<void>((resolve) => refuser.listen(0, "127.0.0.1", resolve));
    closing.push(() => void refuser.close());
    const { port } = refuser.address() as { port: number };
    const login = { user: "ops", privateKey: newKey().private };
    return { name: "w-1", address: "127.0.0.1", port, hostKey: key.public, ...login };
  }

  /** Disconnects in sshd's words: ssh2 sends no text. */
  function disconnect(connection: Connection, words: string): void {
    const { _protocol: protocol } = connection as unknown as { _protocol: Protocol };
    const { write } = protocol._packetRW;
    const packet = write.alloc(13 + words.length);
    const at = write.allocStart;
    packet.fill(0, at);
    packet[at] = 1;
    packet.writeUInt32BE(2, at + 1);
    packet.writeUInt32BE(words.length, at + 5);
    packet.write(words, at + 9);
    protocol._cipher.encrypt(write.finalize(packet));
  }

  it("fails at once when the machine allows fewer keys than the SSH agent offers, and names the fix", async () => {
    const folder = mkdtempSync(path.join(tmpdir(), "foresail-agent-"));
    closing.push(() => rmSync(folder, { recursive: true }));
    const socket = path.join(folder, "socket");
    const agent = spawn("ssh-agent", ["-D", "-a", socket], { stdio: ["ignore", "pipe", "ignore"] });
    closing.push(() => void agent.kill());
    await once(agent.stdout, "data");
    for (let count = 0; count < 3; count += 1) {
      const add = { env: { ...process.env, SSH_AUTH_SOCK: socket }, input: newKey().private };
      assert.equal(spawnSync("ssh-add", ["-q", "-"], add).status, 0);
    }
    const target = await refusing((connection) => disconnect(connection, "Too many authentication failures"));
    for (const [changes, words] of [
      [
        { privateKey: undefined, agentSocket: socket },
        /The SSH agent offers 3 keys.*MaxAuthTries.*sshPrivateKey/,
      ],
      [{ privateKey: undefined, agentSocket: `${socket}-gone` }, /SSH agent/],
      [{}, /too many authentication failures. The machine allows fewer/],
    ] as const)
      await assert.rejects(SshConnection.open({ ...target, ...changes }, { seconds: 60 }), words);
  });

  it("fails at once for an account that has expired, in the machine's words", async () => {
    const expired = "Your account has expired; please contact your system administrator.";
    const target = await refusing((connection) => connection.end(), expired);
    await assert.rejects(SshConnection.open(target, { seconds: 60 }), (error: Error) => {
      assert.ok(error instanceof AccountRefused, error.message);
      assert.match(
        error.message,
        /does not let ops log in: Your account has expired.*chage --expiredate -1 ops/,
      );
      return true;
    });
  });

  it("waits for a machine that boots, and repeats what it says", async () => {
    const booting = "System is booting up. Unprivileged users are not permitted to log in yet.";
    const target = await refusing((connection) => connection.end(), booting);
    await assert.rejects(
      SshConnection.open(target, { seconds: 1 }),
      /closed the connection during the login, after the words: System is booting up/,
    );
  });
});
