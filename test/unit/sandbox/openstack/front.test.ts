import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import { findFreePorts } from "../../../../sandbox/nodes/ports";
import { findFault, type HeldFault } from "../../../../sandbox/openstack/front/fault";
import { FaultControl } from "../../../../sandbox/openstack/front/fault-control";
import { Front } from "../../../../sandbox/openstack/front/front";
import { assignPorts, PORT_COUNT, type CloudPorts } from "../../../../sandbox/openstack/settings";
import { sampleSettings } from "./cloud-settings";

const held = (changes: Partial<HeldFault>): HeldFault => ({
  id: 1,
  happened: 0,
  service: "nova",
  effect: { kind: "refused" },
  ...changes,
});
const post = { service: "nova", method: "POST", path: "/v2.1/servers?x=1" } as const;

describe("matching of requests and faults", () => {
  const cases: [string, Partial<HeldFault>, boolean][] = [
    ["any of the service", {}, true],
    ["one of another service", { service: "neutron" }, false],
    ["one of its method", { method: "POST" }, true],
    ["one of another method", { method: "GET" }, false],
    ["one of its path", { path: "/servers\\?" }, true],
    ["one of another path", { path: "/ports" }, false],
    ["one that is left once", { times: 2, happened: 1 }, true],
    ["one that is spent", { times: 2, happened: 2 }, false],
  ];
  for (const [what, fault, meets] of cases) {
    it(`${meets ? "meets" : "does not meet"} ${what}`, () =>
      assert.equal(findFault([held(fault)], post) !== undefined, meets));
  }
});

describe("the process before the cloud's services", () => {
  let ports: CloudPorts;
  let front: Front;
  let nova: Server;
  let carriedOut: string[];
  let faults: FaultControl;

  before(async () => {
    ports = assignPorts(await findFreePorts("c0ffee00", PORT_COUNT, new Set()));
    nova = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        carriedOut.push(`${request.method} ${request.url} ${body} ${request.headers.host}`);
        response.writeHead(202, { "x-openstack-request-id": "req-1" }).end("done");
      });
    });
    await new Promise<void>((resolve) => nova.listen(ports.internal.nova, "127.0.0.1", resolve));
    front = new Front(ports, "control-password");
    await front.listen();
    faults = new FaultControl({ ...sampleSettings(), ports });
  });

  beforeEach(() => {
    carriedOut = [];
    return faults.clear();
  });

  after(() => {
    front.close();
    nova.close();
  });

  const send = (path = "/servers", init: RequestInit = { method: "POST", body: "{}" }) =>
    fetch(`http://127.0.0.1:${ports.public.nova}${path}`, init);

  it("forwards a request and its response unchanged", async () => {
    const answer = await send();
    assert.equal(answer.status, 202);
    assert.equal(answer.headers.get("x-openstack-request-id"), "req-1");
    assert.equal(await answer.text(), "done");
    assert.deepEqual(carriedOut, [`POST /servers {} 127.0.0.1:${ports.public.nova}`]);
  });

  it("returns an error as often as requested, and executes nothing", async () => {
    await faults.next("nova", { kind: "status", status: 500 }, { times: 2 });
    const statuses = [(await send()).status, (await send()).status, (await send()).status];
    assert.deepEqual(statuses, [500, 500, 202]);
    assert.equal(carriedOut.length, 1);
  });

  it("loses the response of an executed request", async () => {
    await faults.next("nova", { kind: "lost-reply" });
    await assert.rejects(send());
    assert.equal(carriedOut.length, 1);
  });

  it("refuses a service until it is up again", async () => {
    await faults.down("nova");
    await assert.rejects(send());
    await assert.rejects(send());
    assert.equal((await faults.list())[0]?.happened, 2);
    await faults.clear();
    assert.equal((await send()).status, 202);
  });

  it("delays a request and then executes it", async () => {
    await faults.next("nova", { kind: "delay", milliseconds: 200 });
    const began = Date.now();
    assert.equal((await send()).status, 202);
    assert.ok(Date.now() - began >= 195);
  });

  it("says which service does not answer", async () => {
    const answer = await fetch(`http://127.0.0.1:${ports.public.glance}/`);
    assert.equal(answer.status, 503);
    assert.match(await answer.text(), /glance does not answer/);
  });

  it("counts the forwarded requests", async () => {
    await faults.forgetRequests();
    await send("/flavors", {});
    assert.deepEqual(await faults.requests(), [
      { service: "nova", method: "GET", path: "/flavors", status: 202 },
    ]);
  });

  it("accepts faults only with the password", async () => {
    const unauthorized = new FaultControl({
      ports,
      passwords: { ...sampleSettings().passwords, control: "guessed" },
    });
    await assert.rejects(unauthorized.down("nova"), /answered 401/);
    assert.equal((await send()).status, 202);
  });
});
