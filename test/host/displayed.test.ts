import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { assertInert } from "../unit/lib/text/hostile";
import { ProviderHost } from "./provider-host";
import { CONNECTION, slot } from "./tumblebug-fixture";

const HOSTILE = "\u001b[2J\r\n::error::x\n##vso[task.complete]\u202e\u200b@octocat";

describe("answers of a hostile server, in Pulumi's own process", function () {
  this.timeout(60_000);
  let host: ProviderHost;
  let server: Server;
  before(async () => {
    server = createServer((_request, response) => {
      response.writeHead(403, { "content-type": "application/json" });
      response.end(JSON.stringify({ message: HOSTILE }));
    }).listen(0, "127.0.0.1");
    host = await ProviderHost.inClone();
  });
  after(async () => {
    await host?.stop();
    server.close();
  });

  const access = () => ({
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tumblebug`,
    credentials: { username: "default", password: "default" },
    generation: "infra",
  });

  it("act in no step, refusal, message or error, and no stack trace is printed", async () => {
    const inputs = {
      ...{ server: access(), namespace: "ns1", createNamespace: false, infrastructure: "k1" },
      connections: [{ name: CONNECTION, vNet: "k1-vpc", cidr: "10.21.3.0/24" }],
      slots: [slot("cp-1")],
      ...{ loadBalancer: false, allowMock: false },
      objects: { vNets: [], securityGroups: [], sshKeys: [], images: [], specs: [] },
      ...{ steps: [], leaving: [], later: [], remarks: [] },
    };
    const said: string[] = [];
    const collect = (error: Error) => void said.push(error.message);
    await host
      .check("tumblebug/TumblebugPlan", {}, inputs)
      .then((checked) => void said.push(JSON.stringify(checked)), collect);
    await host.read("tumblebug/TumblebugNamespace", { server: access(), name: "ns1" }).catch(collect);
    await host.delete("tumblebug/TumblebugNamespace", { server: access(), name: "ns1" }).catch(collect);
    assert.match(said.join("\n"), /octocat/, "the server's words are shown");
    for (const text of [...said, host.printed]) assertInert(text);
    assert.doesNotMatch(host.printed, /^ +at /m);
  });
});
