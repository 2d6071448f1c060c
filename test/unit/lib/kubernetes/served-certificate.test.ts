import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { servedCertificate } from "../../../../lib/kubernetes/api-server-health";

describe("an API server without a valid certificate", () => {
  it("refuses connections on a machine that is up, or takes them and never answers while it starts", async () => {
    const server = createServer((socket) => socket.resume()).listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    assert.equal(await servedCertificate(address, AbortSignal.timeout(200)), "nothing valid");
    server.close();
    await once(server, "close");
    assert.equal(await servedCertificate(address, AbortSignal.timeout(2_000)), "nothing valid");
  });

  it("is silent where nothing takes the connection", async () => {
    assert.equal(await servedCertificate("127.0.0.1:9", AbortSignal.abort()), "silent");
  });
});
