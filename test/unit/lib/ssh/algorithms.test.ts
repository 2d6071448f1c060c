import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { afterEach, describe, it } from "mocha";
import { type Algorithms, type Connection, createAgent, utils } from "ssh2";
import {
  AuthenticationRefused,
  HostKeyMismatch,
  NoCommonAlgorithm,
  scanHostKey,
  SshConnection,
} from "../../../../lib/ssh";
import { refuseSha1OfAgent } from "../../../../lib/ssh/algorithms";
import { TestSshServer } from "../../../support/ssh-server";

function rsaKey(): { private: string; public: string } {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = privateKey.export({ type: "pkcs1", format: "pem" }) as string;
  const key = utils.parseKey(pem);
  if (key instanceof Error) throw key;
  return { private: pem, public: `ssh-rsa ${key.getPublicSSH().toString("base64")}` };
}

/** A server that does not announce which signatures it accepts, as before OpenSSH 7.2. */
function announcesNothing(connection: Connection): void {
  const protocol = (connection as unknown as { _protocol: { _kex?: object } })._protocol;
  let kex: object | undefined;
  Object.defineProperty(protocol, "_kex", {
    get: () => kex,
    set: (value?: object) => {
      kex = value;
      if (value)
        Object.defineProperty(value, "remoteExtInfoEnabled", { get: () => false, set: () => undefined });
    },
  });
}

describe("algorithms of SSH connections", () => {
  const closing: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function server(options: ConstructorParameters<typeof TestSshServer>[1]): Promise<TestSshServer> {
    const started = await new TestSshServer(undefined, options).listen();
    closing.push(() => started.close());
    return started;
  }

  const weak: [string, Algorithms, RegExp][] = [
    [
      "diffie-hellman-group14-sha1",
      { kex: ["diffie-hellman-group14-sha1"] },
      /no key exchange algorithm .*KexAlgorithms/,
    ],
    ["diffie-hellman-group1-sha1", { kex: ["diffie-hellman-group1-sha1"] }, /no key exchange algorithm/],
    [
      "diffie-hellman-group-exchange-sha1",
      { kex: ["diffie-hellman-group-exchange-sha1"] },
      /no key exchange algorithm/,
    ],
    ["aes256-cbc", { cipher: ["aes256-cbc"] }, /no cipher .*Ciphers/],
    ["hmac-sha1", { hmac: ["hmac-sha1"], cipher: ["aes128-ctr"] }, /no MAC .*MACs/],
    ["hmac-sha1-etm", { hmac: ["hmac-sha1-etm@openssh.com"], cipher: ["aes128-ctr"] }, /no MAC/],
    ["hmac-md5", { hmac: ["hmac-md5"], cipher: ["aes128-ctr"] }, /no MAC/],
  ];
  for (const [name, algorithms, message] of weak)
    it(`refuses a server that offers ${name} alone, at once and with what to set`, async () => {
      const target = (await server({ algorithms })).target();
      const opening = SshConnection.open(target, { seconds: 60 });
      closing.push(() =>
        opening.then(
          (opened) => opened.close(),
          () => undefined,
        ),
      );
      await assert.rejects(opening, (error: Error) => {
        assert.ok(error instanceof NoCommonAlgorithm, `${error.name}: ${error.message}`);
        assert.match(error.message, message);
        assert.match(error.message, /^w-1 \(root@127.*sshd_config/);
        return true;
      });
    });

  it("refuses a host key that signs with SHA-1 alone, pinned or not", async () => {
    const started = await server({ algorithms: { serverHostKey: ["ssh-rsa"] }, hostKey: rsaKey() });
    const opening = SshConnection.open(started.target(), { seconds: 60 });
    closing.push(() =>
      opening.then(
        (opened) => opened.close(),
        () => undefined,
      ),
    );
    await assert.rejects(opening, HostKeyMismatch);
    const { hostKey: _, ...unknown } = started.target();
    await assert.rejects(scanHostKey(unknown, 60), (error: Error) => {
      assert.ok(error instanceof NoCommonAlgorithm, `${error.name}: ${error.message}`);
      assert.match(error.message, /HostKeyAlgorithms ssh-ed25519/);
      return true;
    });
  });

  it("logs in with RSA keys that sign with SHA-2", async () => {
    const started = await server({ hostKey: rsaKey(), userKey: rsaKey() });
    const connection = await SshConnection.open(started.target(), { seconds: 10 });
    closing.push(() => connection.close());
    assert.equal((await connection.run("echo in", { name: "x", seconds: 10 })).stdout, "in\n");
  });

  it("signs no login with SHA-1", async () => {
    const started = await server({ userKey: rsaKey(), onConnection: announcesNothing });
    const opening = SshConnection.open(started.target(), { seconds: 60 });
    closing.push(() =>
      opening.then(
        (opened) => opened.close(),
        () => undefined,
      ),
    );
    await assert.rejects(opening, (error: Error) => {
      assert.ok(error instanceof AuthenticationRefused, `${error.name}: ${error.message}`);
      assert.match(error.message, /signature with SHA-1 .*ed25519/);
      return true;
    });
    assert.equal(started.logins, 0);
  });

  it("lets no SSH agent sign with SHA-1", () => {
    const asked: unknown[] = [];
    const agent = createAgent("/nonexistent");
    agent.sign = (_key: unknown, _data: unknown, options: unknown) => asked.push(options);
    const guarded = refuseSha1OfAgent(agent);
    let refused: Error | null | undefined;
    guarded.sign("", Buffer.from(""), { hash: "sha1" }, (error) => (refused = error));
    assert.match(String(refused), /SHA-1/);
    guarded.sign("", Buffer.from(""), { hash: "sha512" }, () => undefined);
    guarded.sign("", Buffer.from(""), {}, () => undefined);
    assert.deepEqual(asked, [{ hash: "sha512" }, {}]);
  });
});
