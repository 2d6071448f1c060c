import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fillIn, kubeadmJoinData } from "../../../../sandbox/capi/kubeadm-join-data";
import { Authority } from "../../../../sandbox/management/authority";
import { containerNodeSettings } from "../../../../sandbox/nodes";
import { exampleSpecification } from "../kubeadm/machine/examples";

const TOKEN = "abcdef.0123456789abcdef";

describe("the join data of the sandbox's bootstrap provider", () => {
  let folder: string;
  let data: string;
  let authority: Authority;

  before(() => {
    folder = mkdtempSync(path.join(tmpdir(), "foresail-join-data-"));
    authority = new Authority(folder);
    data = kubeadmJoinData(
      exampleSpecification({
        source: { bundle: { path: "/opt/foresail/bundle/v{version}" } },
        endpoint: { external: { host: "10.77.1.11", port: 6443 } },
        kubelet: containerNodeSettings.kubelet,
        ignorePreflightErrors: containerNodeSettings.ignorePreflightErrors,
      }),
      {
        certificateAuthority: Buffer.from(authority.own.certificate).toString("base64"),
        token: TOKEN,
      },
    );
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  it("has the token, and the hash of the authority's public key as openssl makes it", () => {
    const openssl = (args: string[], input: Buffer) => execFileSync("openssl", args, { input });
    const pem = openssl(["x509", "-pubkey", "-noout"], Buffer.from(authority.own.certificate));
    const key = openssl(["pkey", "-pubin", "-outform", "der"], pem);
    const hash = openssl(["dgst", "-sha256", "-binary"], key).toString("hex");
    assert.match(data, new RegExp(`caCertHashes:\\s+- sha256:${hash}\\n`));
    assert.match(data, new RegExp(`apiServerEndpoint: 10.77.1.11:6443\\s+token: ${TOKEN}`));
  });

  it("is filled in with each machine's data, and is valid bash", () => {
    const [one, other] = ["0", "1"].map((number) =>
      fillIn(data, {
        hostname: `pool-a-${number}`,
        address: `10.77.1.1${number}`,
        providerID: `sandbox://demo/pool-a-${number}`,
      }),
    );
    assert.match(data, /\{\{ /);
    assert.doesNotMatch(one!, /\{\{ /);
    assert.match(one!, /name: provider-id\s+value: "?sandbox:\/\/demo\/pool-a-0/);
    assert.match(one!, /name: node-ip\s+value: "?10\.77\.1\.10"?\n/);
    assert.equal(one!.replaceAll("pool-a-0", "pool-a-1").replaceAll("10.77.1.10", "10.77.1.11"), other);
    execFileSync("bash", ["-n"], { input: one });
  });
});
