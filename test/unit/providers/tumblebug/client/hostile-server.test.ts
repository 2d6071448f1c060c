import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { openTumblebug, type Tumblebug } from "../../../../../providers/tumblebug/client";
import { CREDENTIAL, UNLIMITED } from "../../../../support/tumblebug";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(answer: Answer): Promise<{ server: Server; origin: string }> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const json =
  (body: unknown, status = 200): Answer =>
  (_request, response) =>
    void response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));

const { user, password } = CREDENTIAL;
const BASIC = Buffer.from(`${user}:${password}`).toString("base64");
const ESCAPES = "\u001b[2J\u001b]0;title\u0007 \u202Ereversed\r\n::error::fake";

/** What no message or value may contain. */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/;

function assertHarmless(text: string): void {
  assert.doesNotMatch(text, UNSAFE);
  for (const secret of [password, BASIC]) assert.ok(!text.includes(secret), `it contains ${secret}: ${text}`);
}

describe("a hostile Tumblebug server", () => {
  const servers: Server[] = [];
  const clients: Tumblebug[] = [];

  afterEach(() => {
    for (const client of clients.splice(0)) client.close();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  async function open(answer: Answer, seconds = 5): Promise<Tumblebug> {
    const { server, origin } = await serve(answer);
    servers.push(server);
    const client = await openTumblebug(
      { address: `${origin}/tumblebug`, ...CREDENTIAL, generation: "infra" },
      { seconds, longSeconds: seconds, looking: { milliseconds: 1, times: 1 }, limits: UNLIMITED },
    );
    clients.push(client);
    return client;
  }

  const calls: [what: string, call: (client: Tumblebug) => Promise<unknown>][] = [
    ["a read", (client) => client.readConnection("aws")],
    ["a creation", (client) => client.namespaces.create({ name: "ns1" })],
    ["a deletion", (client) => client.sshKeys.delete("ns1", "k1")],
    ["a termination", (client) => client.infrastructures.terminate("ns1", "k1")],
  ];

  for (const status of [301, 302, 307, 308])
    it(`gets no credentials to another origin by a redirect (${status})`, async () => {
      const asked: string[] = [];
      const other = await serve((request, response) => {
        asked.push(String(request.headers.authorization));
        json({})(request, response);
      });
      servers.push(other.server);
      const location = `${other.origin}/?c=${BASIC}`;
      const client = await open((_request, response) => void response.writeHead(status, { location }).end());
      for (const [what, call] of calls)
        await assert.rejects(call(client), (error: Error & { code: string; next: string }) => {
          assert.equal(error.code, "Redirected", what);
          assert.match(error.message, new RegExp(`answered ${status}: redirects to ${other.origin}/`));
          assert.match(error.next, /follows no redirect/);
          assertHarmless(error.message);
          return true;
        });
      assert.deepEqual(asked, []);
    });

  it("is not detected as a generation by a redirect", async () => {
    const { server, origin } = await serve((_request, response) => {
      response.writeHead(302, { location: "https://login.example.org/" }).end();
    });
    servers.push(server);
    const opening = openTumblebug({ address: origin, ...CREDENTIAL }, { seconds: 5, limits: UNLIMITED });
    await assert.rejects(opening, { code: "Redirected" });
  });

  it("is not read without end", async () => {
    const client = await open((_request, response) => {
      const send = () => {
        while (!response.destroyed && response.write("[".repeat(65_536)));
      };
      response.on("drain", send);
      send();
    }, 60);
    await assert.rejects(client.readConnection("aws"), {
      code: "UnexpectedAnswer",
      message: /the answer is larger than 32 MiB$/,
    });
  });

  it("makes nothing true with an answer that is not JSON", async () => {
    const page = "<html><script>alert(1)</script>Sign in</html>";
    const client = await open((_request, response) => {
      response.writeHead(200, { "Content-Type": "text/html" }).end(page);
    });
    for (const [what, call] of calls)
      await assert.rejects(
        call(client),
        { code: "UnexpectedAnswer", message: /the response is not JSON$/ },
        what,
      );
  });

  it("is refused when it nests its answer a million levels deep", async () => {
    const deep = `${"[".repeat(1e6)}${"]".repeat(1e6)}`;
    const client = await open((request, response) => {
      const status = request.url?.includes("/connConfig/") ? 200 : 500;
      response.writeHead(status).end(`{"configName":"aws","message":${deep},"regionDetail":${deep}}`);
    });
    await assert.rejects(client.readConnection("aws"), { name: "UnexpectedAnswer" });
    await assert.rejects(client.namespaces.create({ name: "ns1" }), { code: "Refused" });
  });

  it("can't put control characters or the client's credentials into an error", async () => {
    const echo = `bad ${ESCAPES} for Basic ${BASIC}, ${user}:${password} and ${password}`;
    const wrapped = JSON.stringify({ message: JSON.stringify({ message: echo }) });
    for (const body of [echo, wrapped])
      for (const status of [400, 401, 404, 409, 500]) {
        const client = await open((_request, response) => void response.writeHead(status).end(body));
        for (const [what, call] of calls)
          await call(client).then(
            (found) => assert.ok(found === undefined || found === false, what),
            (error: Error) => assertHarmless(error.message),
          );
      }
  });

  const vm = {
    id: `w-1${ESCAPES}`,
    nodeGroupId: `w${ESCAPES}`,
    status: `Failed${ESCAPES}`,
    targetAction: `None${ESCAPES}`,
    systemMessage: `no quota ${ESCAPES} ${password} Basic ${BASIC}`,
    connectionName: `aws${ESCAPES}`,
    nodeUserName: `cb-user${ESCAPES}`,
    publicIP: "192.0.2.1",
    region: { region: `r${ESCAPES}`, zone: `z${ESCAPES}` },
    sshKeyId: `k${ESCAPES}`,
    cspResourceId: `i${ESCAPES}`,
  };
  const infra = { id: "k1", name: "k1", status: "Failed", description: "", node: [vm] };

  it("can't put them into what the state records of VMs", async () => {
    const client = await open(json({ ...infra, systemMessage: [vm.systemMessage] }));
    const found = await client.infrastructures.read("ns1", "k1");
    assert.match(found?.machines[0]?.systemMessage ?? "", /^no quota .* \[secret\]/);
    for (const value of Object.values(found?.machines[0] ?? {})) assertHarmless(String(value));
    for (const message of found?.messages ?? []) assertHarmless(message);
  });

  it("can't put control characters into the names of objects and connections", async () => {
    const object = { id: `k1${ESCAPES}`, connectionName: `c${ESCAPES}`, cidrBlock: `b${ESCAPES}` };
    const region = { regionId: `r${ESCAPES}` };
    const client = await open(
      json({
        ...object,
        vNet: [object],
        configName: `c${ESCAPES}`,
        providerName: ESCAPES,
        regionDetail: region,
      }),
    );
    const [vNet] = await client.vNets.list("ns1");
    const connection = await client.readConnection("aws");
    const at = await client.readRegion(connection!);
    const values = [vNet, connection, at].flatMap((one) => Object.values<unknown>(one ?? {}));
    const texts = values.filter((value) => typeof value === "string");
    assert.equal(texts.length, 9);
    for (const text of texts) assertHarmless(text);
  });

  for (const publicIP of ["-oProxyCommand=id", "192.0.2.1 evil", "a\nb", "user@host", "host:22", "$(id)"])
    it(`can't name ${JSON.stringify(publicIP)} as the address of a VM`, async () => {
      const client = await open(json({ ...infra, node: [{ ...vm, publicIP }] }));
      await assert.rejects(client.infrastructures.read("ns1", "k1"), {
        code: "UnexpectedAnswer",
        message: /node\.0\.publicIP: expected an IP address or a DNS name$/,
      });
    });
});
