import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { removeFolder } from "../engine/compiled-clone";
import { TestAuthority } from "../support/certificates";
import { kubeconfigOf, TestKubernetesServer } from "../support/kubernetes-server";
import { ProviderHost } from "./provider-host";

/** The handlers in Pulumi's own process, with a small API server; lives as long as a suite. */
export class ServedHost {
  private readonly folder = mkdtempSync(path.join(tmpdir(), "foresail-host-"));
  readonly authority = new TestAuthority(this.folder);
  readonly server = new TestKubernetesServer(this.authority.issue("server", "/CN=server", ["IP:127.0.0.1"]));
  host!: ProviderHost;
  private tests = 0;

  constructor() {
    beforeEach(() => {
      this.tests += 1;
    });
    before(async () => {
      this.host = await ProviderHost.inClone();
      await this.server.listen();
    });
    after(async () => {
      // absent after a failed start
      const { host }: Partial<ServedHost> = this;
      await host?.stop();
      await this.server.close();
      removeFolder(this.folder);
    });
  }

  /**
   * A kubeconfig of the API server; it has a port when the suite's tests run. Each test stands for another run, and the
   * checks of one run share what they read by the text of the kubeconfig, so each test gets a text of its own.
   */
  get kubeconfig(): string {
    return kubeconfigOf(this.authority, [this.server]) + "\n".repeat(this.tests);
  }
}
