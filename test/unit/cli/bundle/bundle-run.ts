import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { type BundleCreateOptions, bundleCreate } from "../../../../cli/commands/bundle-create";
import { bundleVerify } from "../../../../cli/commands/bundle-verify";
import { PATIENCE } from "../../../../providers/kubeadm/client/bundle/persistence";
import { RUNTIME_VERSIONS } from "../../../../providers/kubeadm/plan/bundle/software";
import type { BundleUpstream } from "../../../support/bundle-upstream";
import { startSmallUpstream, VERSION } from "./small-upstream";

/** The address of the kubelet, without its server. */
export const KUBELET = `/dl.k8s.io/release/v${VERSION}/bin/linux/amd64/kubelet`;

/** Runs of `foresail bundle create` in a folder of their own, from a server with small files. */
export class BundleRun {
  /** What all runs printed. */
  readonly said: string[] = [];
  readonly folder = mkdtempSync(path.join(tmpdir(), "bundle-"));

  private constructor(readonly upstream: BundleUpstream) {}

  static async start(): Promise<BundleRun> {
    return new BundleRun(await startSmallUpstream());
  }

  async end(): Promise<void> {
    await this.upstream.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Makes a bundle. @returns where */
  async create(changes: Partial<BundleCreateOptions> = {}): Promise<string> {
    const { output = path.join(this.folder, "bundle"), ...others } = changes;
    const from = { fromPrograms: this.upstream.url, registry: [this.upstream.url] };
    const given = { kubernetes: VERSION, arch: "amd64", ...from } as const;
    const options = { ...given, ...RUNTIME_VERSIONS, dryRun: false, output, ...others };
    const patience = { ...PATIENCE, pauseMilliseconds: 1, idleMilliseconds: 300 };
    assert.equal(await bundleCreate(options, { say: (line) => this.said.push(line), patience }), 0);
    return output;
  }

  /** Expects that no bundle is made, and why. */
  fails(words: RegExp, changes?: Partial<BundleCreateOptions>): Promise<void> {
    return assert.rejects(this.create(changes), (error: Error) => {
      assert.match(error.message, words);
      assert.equal(existsSync(path.join(this.folder, "bundle")), false);
      return true;
    });
  }

  async verify(bundle: string): Promise<{ code: number; text: string }> {
    const lines: string[] = [];
    const asked = { bundle, kubernetes: VERSION, arch: "amd64" } as const;
    const code = await bundleVerify(asked, (line) => lines.push(line));
    return { code, text: lines.join("\n") };
  }

  /** Returns the requests for the content of an address that begins so. */
  requested(url: string): string[] {
    return this.upstream.requests.filter((each) => each.startsWith(`GET ${url}`));
  }
}
