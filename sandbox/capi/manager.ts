import { mkdirSync, copyFileSync } from "node:fs";
import path from "node:path";
import { readdir } from "node:fs/promises";
import type { NewObject } from "../../lib/kubernetes";
import type { ApiServer, Command } from "../management/api-server";

/** Files of the definitions beside the manager's program. */
export async function managerDefinitions(program: string): Promise<string[]> {
  const folder = path.dirname(program);
  return (await readdir(folder))
    .filter((name) => name.endsWith(".yaml"))
    .map((name) => path.join(folder, name));
}

interface Definition extends NewObject {
  spec: { versions: { name: string; served: boolean }[] };
}

/**
 * The definitions with the webhook that Cluster API's own installation gives those of several versions. Without it an
 * object would not be converted, and fields of the other version would be lost.
 *
 * @param webhookPort of the manager
 */
export function convertedDefinitions(
  definitions: readonly NewObject[],
  server: ApiServer,
  webhookPort: number,
): NewObject[] {
  const clientConfig = {
    url: `https://127.0.0.1:${webhookPort}/convert`,
    caBundle: Buffer.from(server.authorityCertificate).toString("base64"),
  };
  const conversion = { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } };
  return (definitions as Definition[]).map((definition) =>
    definition.spec.versions.some(({ name, served }) => served && name === "v1beta2")
      ? { ...definition, spec: { ...definition.spec, conversion } }
      : definition,
  );
}

/** Ports of 127.0.0.1 for the manager. */
interface ManagerPorts {
  readonly webhook: number;
  readonly diagnostics: number;
  readonly health: number;
}

/**
 * The command of Cluster API's core manager beside an API server. Its webhooks are served but not registered by
 * default, so objects must be complete when they are written.
 */
export function managerCommand(
  program: string,
  server: ApiServer,
  ports: ManagerPorts,
): Command & { environment: Record<string, string> } {
  const certificates = path.join(server.folder, "manager-webhook");
  mkdirSync(certificates, { recursive: true, mode: 0o700 });
  const { certificateFile, keyFile } = server.servingCertificate("cluster-api-webhook");
  copyFileSync(certificateFile, path.join(certificates, "tls.crt"));
  copyFileSync(keyFile, path.join(certificates, "tls.key"));
  return {
    program,
    args: [
      `--kubeconfig=${server.kubeconfigFile}`,
      `--webhook-cert-dir=${certificates}`,
      `--webhook-port=${ports.webhook}`,
      `--diagnostics-address=127.0.0.1:${ports.diagnostics}`,
      "--insecure-diagnostics",
      `--health-addr=127.0.0.1:${ports.health}`,
      "--leader-elect=false",
      // the default of 20 requests per second would delay a pool of hundreds of nodes
      "--kube-api-qps=500",
      "--kube-api-burst=500",
    ],
    environment: { POD_NAMESPACE: "capi-system" },
  };
}
