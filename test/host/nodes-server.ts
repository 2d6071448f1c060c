import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";

/** An API server with Nodes, and its kubeconfig also as a file. Registers the mocha hooks. */
export function nodesServer() {
  const folder = mkdtempSync(path.join(tmpdir(), "foresail-nodes-"));
  const authority = new TestAuthority(folder);
  const server = new TestKubernetesServer(authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  const kubeconfigFile = path.join(folder, "admin.conf");
  const kubeconfig = () => kubeconfigOf(authority, [server]);
  before(async () => {
    await server.listen();
    writeFileSync(kubeconfigFile, kubeconfig(), { mode: 0o600 });
  });
  after(async () => {
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const putNode = (name: string, annotations: Record<string, string> = {}) =>
    server.store.put(`/api/v1/nodes/${name}`, {
      apiVersion: "v1",
      kind: "Node",
      metadata: { name, annotations },
    });
  return { server, kubeconfig, kubeconfigFile, putNode };
}
