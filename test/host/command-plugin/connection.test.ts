import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import path from "node:path";
import ssh2 from "ssh2";
import { generateKey } from "../../../lib/ssh/generated-key";
import { SshServer } from "../../ssh-server.js";
import { connectionTo, eventually, fixture, REMOTE } from "./fixture.js";
import { isReplacement } from "./plugin-process.js";

const PASSWORD = "correct horse battery";
const locked = generateKey({
  passphrase: "key password",
  cipher: "aes256-cbc",
  rounds: 16,
});
const otherKey = generateKey().public.trim();

describe("command plugin: connection", function () {
  this.timeout(20_000);
  const host = fixture({ password: PASSWORD, authorizedKeys: [locked.public] });
  const others: { close(): unknown }[] = [];
  const create = (connection: ReturnType<typeof host.connection>): Promise<string> =>
    host.plugin
      .create(REMOTE, { connection, create: "echo reached" })
      .then(({ outputs }) => outputs["stdout"] as string);

  afterEach(async () => {
    for (const other of others.splice(0)) await other.close();
  });

  async function another(options: { askInteractively?: boolean; port?: number } = {}): Promise<SshServer> {
    const server = await SshServer.start({ directory: host.directory, password: PASSWORD, ...options });
    others.push(server);
    return server;
  }

  async function closedPort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, "close");
    return port;
  }

  it("accepts the pinned host key, with or without a comment", async () => {
    assert.equal(await create(host.connection()), "reached");
    assert.equal(
      await create(host.connection({ hostKey: `${host.server.hostKey} some comment` })),
      "reached",
    );
  });

  it("accepts any host key where none is pinned", async () => {
    const { hostKey: _, ...unpinned } = host.connection();
    assert.equal(await create(unpinned), "reached");
  });

  it("refuses another host key, and never logs in", async () => {
    const before = host.server.logins.length;
    await assert.rejects(create(host.connection({ hostKey: otherKey })), /host key mismatch/);
    assert.equal(host.server.logins.length, before);
  });

  it("refuses an invalid host key", async () => {
    await assert.rejects(create(host.connection({ hostKey: "ssh-ed25519 nonsense" })), /host ?key/i);
  });

  it("logs in with a password, also interactively", async () => {
    const { privateKey: _, ...keyless } = host.connection({ password: PASSWORD });
    assert.equal(await create(keyless), "reached");
    const asking = await another({ askInteractively: true });
    const { privateKey: _key, ...asked } = connectionTo(asking, { password: PASSWORD });
    assert.equal(await create(asked), "reached");
  });

  it("logs in with an encrypted private key", async () => {
    const privateKey = locked.private;
    assert.equal(
      await create(host.connection({ privateKey, privateKeyPassword: "key password" })),
      "reached",
    );
    await assert.rejects(create(host.connection({ privateKey })), /passphrase|encrypted/i);
  });

  it("logs in with the agent at agentSocketPath", async () => {
    const socket = path.join(host.directory, "agent.sock");
    others.push(await agent(socket, host.server.clientKey));
    const { privateKey: _, ...keyless } = host.connection({ agentSocketPath: socket });
    assert.equal(await create(keyless), "reached");
  });

  it("fails a login that the server refuses, without the password in the error", async () => {
    const { privateKey: _, ...keyless } = host.connection({ password: "wrong password" });
    await assert.rejects(create(keyless), (error: Error) => {
      assert.match(error.message, /authenticat/i);
      assert.doesNotMatch(error.message, /wrong password/);
      return true;
    });
  });

  it("connects through the proxy, with the proxy's own host key and login", async () => {
    const jump = await another();
    const proxy = connectionTo(jump, { user: "jumper" });
    assert.equal(await create(host.connection({ proxy })), "reached");
    assert.deepEqual(jump.logins, ["jumper"]);
    assert.deepEqual(jump.forwarded, [`127.0.0.1:${String(host.server.port)}`]);
    await eventually("the jump host's connection is closed", () => jump.open === 0);
  });

  it("refuses another host key of the proxy, and of the host behind it", async () => {
    const jump = await another();
    const wrongProxy = connectionTo(jump, { hostKey: otherKey });
    await assert.rejects(create(host.connection({ proxy: wrongProxy })), /proxy: .*host key mismatch/s);
    assert.deepEqual(jump.logins, []);
    const proxy = connectionTo(jump, {});
    // The official plugin tries the second attempt on the used-up stream and reports that instead.
    const words = isReplacement ? /host key mismatch/ : /proxy: /;
    await assert.rejects(create(host.connection({ proxy, hostKey: otherKey })), words);
  });

  it("says that the proxy cannot reach the host", async () => {
    const proxy = connectionTo(await another());
    await assert.rejects(create(host.connection({ proxy, port: await closedPort() })), /proxy: /);
  });

  it("gives up on a closed port after dialErrorLimit failed attempts", async () => {
    const port = await closedPort();
    await assert.rejects(
      create(host.connection({ port, dialErrorLimit: 2 })),
      /after 2 failed attempts.*refused/is,
    );
    await assert.rejects(
      create(host.connection({ port, dialErrorLimit: 0 })),
      /after 0 failed attempts.*refused/is,
    );
    const retries = (): boolean =>
      host.plugin.logs.some(({ message }) => message.includes("2") && /failed/.test(message));
    await eventually("the retries are logged", retries);
  });

  it("dials again until the host is there, without a limit when dialErrorLimit is -1", async () => {
    const port = await closedPort();
    const pending = create(
      host.connection({ port, dialErrorLimit: -1, hostKey: null, privateKey: null, password: PASSWORD }),
    );
    pending.catch(() => undefined);
    const mark = host.plugin.logs.length;
    const failedTwice = (): boolean =>
      host.plugin.logs.slice(mark).filter(({ message }) => /failed/.test(message)).length >= 2;
    await eventually("two attempts failed", failedTwice);
    await another({ port });
    assert.equal(await pending, "reached");
  });

  it("ends an attempt at a host that does not answer after perDialTimeout", async function () {
    // The official plugin's limit covers the TCP connection only; this listener accepts that and sends nothing.
    if (!isReplacement) this.skip();
    const hole = await blackHole();
    others.push(hole);
    const started = Date.now();
    const connection = host.connection({ port: hole.port, perDialTimeout: 1, dialErrorLimit: 0 });
    await assert.rejects(create(connection), /no connection after 1 s \(perDialTimeout\)/);
    assert.ok(Date.now() - started < 5_000);
  });
});

/** An SSH agent with one key, on a socket. */
async function agent(socket: string, key: string): Promise<Server> {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  const server = createServer((client) => {
    const protocol = new ssh2.AgentProtocol(false);
    protocol.on("identities", (request) => protocol.getIdentitiesReply(request, [parsed]));
    protocol.on("sign", (request, _key, data) => protocol.signReply(request, parsed.sign(data)));
    client.pipe(protocol).pipe(client);
  });
  server.listen(socket);
  await once(server, "listening");
  return server;
}

async function blackHole(): Promise<{ port: number; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket.on("error", () => undefined))).listen(
    0,
    "127.0.0.1",
  );
  await once(server, "listening");
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port: (server.address() as AddressInfo).port, close };
}
