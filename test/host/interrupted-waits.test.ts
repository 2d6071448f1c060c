import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { stringify } from "yaml";
import type { HandlerKey } from "../../providers/handlers";
import { SAMPLES } from "./handler-samples";
import { ProviderHost } from "./provider-host";
import { ServedHost } from "./served-host";

const END_MILLISECONDS = 5_000;
const BEGIN_MILLISECONDS = 15_000;
const SECONDS = 60;

/** The waits of the systems besides remote steps, which `test/engine/interrupted-waits.test.ts` interrupts. */
describe("an interrupted run, in Pulumi's own process", function () {
  this.timeout(60_000);
  const served = new ServedHost();
  const silent = createServer();
  const sockets = new Set<Socket>();
  let asked = 0;
  let host: ProviderHost | undefined;

  before(async () => {
    silent.on("connection", (socket) => {
      asked += 1;
      sockets.add(socket.on("error", () => undefined));
    });
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const auth = {
      auth_url: `http://127.0.0.1:${port()}/v3`,
      username: "u",
      user_domain_name: "Default",
      password: "p",
      project_name: "p",
      project_domain_name: "Default",
    };
    writeFileSync(path.join(served.host.folder, "clouds.yaml"), stringify({ clouds: { silent: { auth } } }));
  });
  beforeEach(async () => {
    asked = 0;
    host = await ProviderHost.start(served.host.folder);
  });
  afterEach(() => host?.stop());
  after(() => {
    sockets.forEach((socket) => socket.destroy());
    silent.close();
  });

  const port = () => (silent.address() as AddressInfo).port;
  const waiting = () => /waiting for /.test(host?.printed ?? "");
  const waits: [what: string, key: HandlerKey, over: () => object, hasBegun: () => boolean, says: RegExp][] =
    [
      [
        "a new server's host key",
        "openstack/ServerHostKey",
        () => ({ port: port(), timeoutSeconds: SECONDS }),
        () => asked > 0,
        /SSH on w-1/,
      ],
      [
        "the cloud",
        "openstack/CloudPlan",
        () => ({ cloud: "silent", leftovers: [{ kind: "server", id: "1", name: "w-1" }] }),
        () => asked > 0,
        /the server 1 to be deleted/,
      ],
      [
        "an MCIS",
        "tumblebug/TumblebugMcis",
        () => ({
          server: {
            address: `http://127.0.0.1:${port()}`,
            generation: "mcis",
            credentials: { username: "u", password: "p" },
          },
        }),
        () => asked > 0,
        /an answer to GET \/ns\/ns1\/mcis\/k1/,
      ],
      [
        "an object",
        "kubernetes/ObjectReady",
        () => ({ kubeconfig: served.kubeconfig, timeoutSeconds: SECONDS }),
        waiting,
        /ConfigMap/,
      ],
      [
        "the machines of Azimuth",
        "azimuth/ClusterReady",
        () => ({ kubeconfig: served.kubeconfig, timeoutSeconds: SECONDS }),
        waiting,
        /ClusterReady az-demo\/demo/,
      ],
      [
        "a MachinePool",
        "machine-pool/MachinePoolReady",
        () => ({
          kubeconfig: served.kubeconfig,
          timeouts: { bootstrap: SECONDS, infrastructure: SECONDS, nodes: SECONDS },
        }),
        waiting,
        /MachinePool/,
      ],
    ];

  for (const [what, key, over, hasBegun, says] of waits)
    it(`ends its wait for ${what} within 5 s, and says what it waited for`, async () => {
      let settled: unknown;
      const inputs = { ...SAMPLES[key], ...over() };
      // a new cloud has no leftovers
      const isUpdate = key === "openstack/CloudPlan";
      const work = (isUpdate ? host!.update(key, inputs, inputs) : host!.create(key, inputs)).then(
        () => (settled = "done"),
        (error: Error) => (settled = error.message),
      );
      for (const deadline = Date.now() + BEGIN_MILLISECONDS; !hasBegun(); await pause(20)) {
        assert.equal(settled, undefined);
        assert.ok(Date.now() < deadline, host!.printed);
      }
      const at = Date.now();
      await host!.cancel();
      await work;
      assert.match(String(settled), /the run was interrupted while it waited for .*; last seen: /);
      assert.match(String(settled), says);
      assert.ok(Date.now() - at < END_MILLISECONDS, `${Date.now() - at} ms`);
    });
});
