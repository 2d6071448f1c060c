import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type Server } from "node:net";
import { firstReady } from "../../../../providers/kubeadm/resources/session/machines-session";
import { exampleMachine } from "./machine/examples";

/** A key and its certificate, as one text. */
const pem = () =>
  execFileSync(
    "openssl",
    "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test -keyout -".split(" "),
    { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
  );

describe("the first ready control plane", () => {
  const servers: Server[] = [];
  const apiServer = async (server: Server) => {
    servers.push(server);
    await once(server.listen(0, "127.0.0.1"), "listening");
    return `127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const sockets = new Set<{ destroy(): void }>();
  let ready: string, failing: string, silent: string;
  before(async () => {
    const both = pem();
    const answering = (status: number) =>
      createTlsServer({ key: both, cert: both }, (_request, response) => response.writeHead(status).end());
    ready = await apiServer(answering(200));
    failing = await apiServer(answering(500));
    // an API server that starts accepts connections before it answers
    silent = await apiServer(createServer((socket) => sockets.add(socket)));
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
  });
  const first = async (...servers: string[]) => {
    const machines = servers.map((server, index) => exampleMachine(`cp-${index + 1}`, { apiServer: server }));
    return (await firstReady(machines))?.name;
  };

  it("is found without a wait for those after it", async () => {
    const never = new Promise((resolve) => setTimeout(resolve, 2_000, "it waited").unref());
    assert.equal(await Promise.race([first(ready, silent), never]), "cp-1");
    assert.equal(await Promise.race([first(failing, ready, silent), never]), "cp-2");
  });

  it("is none when none is ready", async () => {
    assert.equal(await first(failing), undefined);
  });
});
