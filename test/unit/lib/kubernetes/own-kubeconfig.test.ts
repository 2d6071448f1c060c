import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { KubernetesClient } from "../../../../lib/kubernetes";
import { readEndpoints } from "../../../../lib/kubernetes/kubeconfig";
import { kubeconfigIssue } from "../../../../lib/validation/kubeconfigs";
import { TestAuthority } from "../../../support/certificates";
import { TestKubernetesServer } from "../../../support/kubernetes-server";

const SECRET = "hidden-value";

describe("the operator's own kubeconfig", () => {
  let folder: string;
  let authority: TestAuthority;
  let server: TestKubernetesServer;
  const open: Server[] = [];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "foresail-own-"));
    authority = new TestAuthority(folder);
    // no address of its own: only the proxy leads to it
    server = await new TestKubernetesServer(
      authority.issue("api", "/CN=api", ["DNS:api.internal", "IP:192.0.2.10"]),
    ).listen();
  });
  after(async () => {
    open.forEach((each) => each.close());
    await server.close();
    rmSync(folder, { recursive: true });
  });

  const listen = async (proxy: Server): Promise<number> => {
    open.push(proxy);
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    return (proxy.address() as AddressInfo).port;
  };
  const written = (cluster: object, user: object = { token: "t" }) =>
    stringify({
      clusters: [
        {
          name: "c",
          cluster: {
            server: "https://api.internal:6443",
            "certificate-authority-data": Buffer.from(authority.own.certificate).toString("base64"),
            ...cluster,
          },
        },
      ],
      users: [{ name: "u", user }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    });
  const nodesOf = async (kubeconfig: string) => {
    const client = await KubernetesClient.connect({ kubeconfig }, { seconds: 10 });
    try {
      return await client.listNodes();
    } finally {
      client.close();
    }
  };
  const joined = (one: Socket, port: number) => {
    const other = connect(port, "127.0.0.1", () => {
      one.pipe(other);
      other.pipe(one);
    });
    other.on("error", () => one.destroy());
    one.on("error", () => other.destroy());
    return other;
  };

  it("reaches a cluster through its http proxy alone, with user and password", async () => {
    const asked: IncomingMessage[] = [];
    const proxy = createServer().on("connect", (request: IncomingMessage, socket: Socket) => {
      asked.push(request);
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      joined(socket, server.port);
    });
    const port = await listen(proxy);
    assert.deepEqual(await nodesOf(written({ "proxy-url": `http://me:pass@127.0.0.1:${port}` })), []);
    assert.equal(asked[0]?.url, "api.internal:6443");
    assert.equal(
      asked[0].headers["proxy-authorization"],
      `Basic ${Buffer.from("me:pass").toString("base64")}`,
    );
  });

  it("checks the certificate of an address that only a proxy reaches, and of no other one", async () => {
    const proxy = createServer().on("connect", (_request, socket: Socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      joined(socket, server.port);
    });
    const proxied = { "proxy-url": `http://127.0.0.1:${await listen(proxy)}` };
    const nodesAt = (host: string, cluster = {}) =>
      nodesOf(written({ ...proxied, server: `https://${host}:6443`, ...cluster }));
    assert.deepEqual(await nodesAt("192.0.2.10"), []);
    assert.deepEqual(await nodesAt("192.0.2.11", { "tls-server-name": "api.internal" }), []);
    for (const host of ["192.0.2.11", "[2001:db8::1]", "other.internal"])
      await assert.rejects(nodesAt(host), /does not match certificate's altnames/);
  });

  it("reaches a cluster through its SOCKS proxy, which resolves the name", async () => {
    const names: string[] = [];
    const proxy = createTcpServer((socket) => {
      socket.once("data", () => {
        socket.write(Buffer.from([5, 0]));
        socket.once("data", (request: Buffer) => {
          names.push(request.subarray(5, 5 + (request[4] ?? 0)).toString());
          joined(socket, server.port).once("connect", () =>
            socket.write(Buffer.from([5, 0, 0, 1, 127, 0, 0, 1, 0, 0])),
          );
        });
      });
    });
    const port = await listen(proxy);
    assert.deepEqual(await nodesOf(written({ "proxy-url": `socks5://127.0.0.1:${port}` })), []);
    assert.deepEqual([...new Set(names)], ["api.internal"]);
  });

  it("takes a refusal of the proxy for no answer of the cluster", async () => {
    const proxy = createServer().on("connect", (_request, socket: Socket) =>
      socket.end("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}"),
    );
    const port = await listen(proxy);
    const kubeconfig = written({ "proxy-url": `http://127.0.0.1:${port}` });
    await assert.rejects(
      KubernetesClient.connect({ kubeconfig }, { seconds: 2 }),
      new RegExp(
        `through the proxy 127\\.0\\.0\\.1:${port}: the proxy refuses the connection with status 404`,
      ),
    );
  });

  it("sends whom it acts as, with every login", async () => {
    const user = {
      token: "t",
      as: "reader",
      "as-uid": "1",
      "as-groups": ["a", "b"],
      "as-user-extra": { "example.com/Scope": ["x"] },
    };
    const [endpoint] = await readEndpoints({ kubeconfig: written({}, user) });
    assert.deepEqual(endpoint?.headers, {
      Authorization: "Bearer t",
      "Impersonate-User": ["reader"],
      "Impersonate-Uid": ["1"],
      "Impersonate-Group": ["a", "b"],
      "Impersonate-Extra-example.com%2FScope": ["x"],
    });
    const exec = { command: program("login"), apiVersion: "client.authentication.k8s.io/v1" };
    const [logged] = await readEndpoints({ kubeconfig: written({}, { exec, as: "reader" }) });
    assert.deepEqual(logged?.headers, {
      Authorization: "Bearer from-program",
      "Impersonate-User": ["reader"],
    });
  });

  /** Writes a login program that records its environment and arguments. */
  const program = (name: string): string => {
    const file = join(folder, name);
    const answer = '{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"from-program"}}';
    writeFileSync(
      file,
      `#!/bin/sh\nenv >${folder}/environment\necho "$@" >${folder}/arguments\necho '${answer}'\n`,
    );
    chmodSync(file, 0o755);
    return file;
  };

  it("runs a login program without the passphrase and the configuration of the run", async () => {
    const secrets = {
      PULUMI_CONFIG_PASSPHRASE: SECRET,
      PULUMI_CONFIG: `{"a:b":"${SECRET}"}`,
      PULUMI_ACCESS_TOKEN: SECRET,
      FORESAIL_GITLAB_TOKEN: SECRET,
    };
    const before = { ...process.env };
    Object.assign(process.env, secrets);
    try {
      for (const env of [undefined, [{ name: "MORE", value: "1" }]]) {
        const exec = { command: program("login"), args: ["--for", "me"], env };
        const [endpoint] = await readEndpoints({ kubeconfig: written({}, { exec }) });
        assert.deepEqual(endpoint?.headers, { Authorization: "Bearer from-program" });
        const environment = readFileSync(join(folder, "environment"), "utf8");
        assert.equal(environment.includes(SECRET), false, environment);
        assert.match(environment, /^PATH=/m);
        assert.equal(/^MORE=1$/m.test(environment), env !== undefined);
        assert.equal(readFileSync(join(folder, "arguments"), "utf8"), "--for me\n");
      }
    } finally {
      for (const name of Object.keys(secrets)) delete process.env[name];
      Object.assign(process.env, before);
    }
  });

  const refused: readonly (readonly [name: string, cluster: object, user: object, issue: RegExp])[] = [
    [
      "another proxy",
      { "proxy-url": `ftp://${SECRET}@p` },
      {},
      /^clusters\[0\]\.cluster\.proxy-url has the protocol "ftp:"/,
    ],
    ["no proxy address", { "proxy-url": SECRET }, {}, /^clusters\[0\]\.cluster\.proxy-url is not an address/],
    [
      "a proxy that is not a text",
      { "proxy-url": [SECRET] },
      {},
      /^clusters\[0\]\.cluster\.proxy-url is not/,
    ],
    [
      "a name that is not a text",
      { "tls-server-name": 1 },
      {},
      /^clusters\[0\]\.cluster\.tls-server-name is not a text/,
    ],
    ["groups of nobody", {}, { "as-groups": [SECRET] }, /^users\[0\]\.user\.as is missing/],
    [
      "a group with a line break",
      {},
      { as: "a", "as-groups": [`${SECRET}\nX: 1`] },
      /^users\[0\]\.user\.as-groups is not text/,
    ],
    [
      "groups that are not a list",
      {},
      { as: "a", "as-groups": SECRET },
      /^users\[0\]\.user\.as-groups is not a list/,
    ],
    [
      "extra that is not a map",
      {},
      { as: "a", "as-user-extra": [SECRET] },
      /^users\[0\]\.user\.as-user-extra is not a map/,
    ],
    [
      "a login of kubectl's past",
      {},
      { "auth-provider": { name: "gcp", config: { "cmd-path": SECRET } } },
      /^users\[0\]\.user\.auth-provider is not "oidc"/,
    ],
    [
      "a program in a login with OIDC",
      {},
      { "auth-provider": { name: "oidc", config: { exec: { command: SECRET } } } },
      /^users\[0\]\.user\.auth-provider is not "oidc"/,
    ],
    ["a login without a program", {}, { exec: {} }, /^users\[0\]\.user\.exec has no command/],
  ];
  for (const [name, cluster, user, issue] of refused)
    it(`refuses ${name} with the field's path, in the validation and at the call`, async () => {
      const kubeconfig = written(cluster, user);
      const found = kubeconfigIssue(kubeconfig) ?? "";
      assert.match(found, issue);
      assert.equal(found.includes(SECRET), false, found);
      await assert.rejects(readEndpoints({ kubeconfig }), { message: `the kubeconfig's ${found}` });
    });
});
