import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubernetesClient } from "../../../../lib/kubernetes";
import { type Certificate, TestAuthority } from "../../../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../../../support/kubernetes-server";

/** Returns a server's certificate that expired a day ago. */
function expired(server: Certificate, { own }: TestAuthority): Certificate {
  const names = ["-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1"];
  const request = execFileSync("openssl", ["req", "-new", "-key", server.keyFile, ...names]);
  const by = ["-CA", own.certificateFile, "-CAkey", own.keyFile, "-copy_extensions", "copy"];
  const certificate = execFileSync("openssl", ["x509", "-req", ...by, "-days", "-1"], {
    input: request,
    stdio: ["pipe", "pipe", "ignore"],
  });
  return { ...server, certificate: certificate.toString() };
}

describe("an API server whose certificate is not valid now", () => {
  const folder = mkdtempSync(join(tmpdir(), "foresail-test-"));
  after(() => rmSync(folder, { recursive: true }));

  it("is not taken for another cluster: its certificate has expired, and the clocks agree", async () => {
    const authority = new TestAuthority(folder);
    const certificate = authority.issue("server", "/CN=server", ["IP:127.0.0.1"]);
    const server = await new TestKubernetesServer(expired(certificate, authority)).listen();
    try {
      const opening = KubernetesClient.connect(
        { kubeconfig: kubeconfigOf(authority, [server]) },
        { seconds: 60 },
      );
      await assert.rejects(opening, (error: Error) => {
        assert.match(error.message, /can be trusted: .*its certificate expired 1 day ago \(.*certs renew/);
        assert.doesNotMatch(error.message, /created again/);
        return true;
      });
    } finally {
      await server.close();
    }
  });
});
