import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { parse } from "yaml";
import { adopt } from "../../cli/commands/adopt";
import { nodeKeyFile } from "../../sandbox/nodes";
import type { TestCluster } from "./test-cluster";
import { withApi } from "./with-api";

/** A script that prints what Kubernetes and its container runtime are configured with, as checksums. */
export const CONFIGURATION =
  // kubeadm keeps its backups in tmp
  "find /etc/kubernetes /etc/containerd /etc/cni /etc/systemd/system/kubelet.service /etc/sysctl.d /etc/apt /usr/local/bin /var/lib/kubelet/config.yaml /var/lib/kubelet/kubeadm-flags.env -type f -not -path '/etc/kubernetes/tmp/*' | sort | xargs sha256sum";

/** A script that lists files and folders of foresail; the test's machines have some of their own. */
export const TRACES =
  // the tests' own pods and programs have such names, too
  "find /etc /usr/local /var/lib /var/log -xdev -path '*foresail*' | grep -v -e '^/var/log/pods/' -e '^/var/log/containers/' -e '/foresail-test-' | sort";

/**
 * Runs `foresail adopt` on a cluster, whose machines answer at the ports that they publish.
 *
 * @param kubeconfig the administrator's
 * @returns `foresail:cluster` of the stack file that it wrote, and what it said
 */
export async function draftedStack(
  cluster: TestCluster,
  kubeconfig: string,
  members: readonly string[],
): Promise<{ draft: Readonly<Record<string, unknown>>; said: readonly string[] }> {
  const folder = await mkdtemp(path.join(tmpdir(), "foresail-adopt-"));
  try {
    const file = path.join(folder, "kubeconfig");
    await writeFile(file, kubeconfig, { mode: 0o600 });
    const nodes = (await cluster.fleet.list()).filter(({ name }) => members.includes(name));
    const options = {
      kubeconfig: file,
      ssh: nodes[0]?.user ?? "",
      key: nodeKeyFile,
      address: nodes.map(({ name, address, sshPort }) => `${name}=${address}:${sshPort}`),
      write: path.join(folder, `Pulumi.${cluster.name}.yaml`),
    };
    const said: string[] = [];
    assert.equal(await adopt(options, (line) => said.push(line)), 0, said.join("\n"));
    const { config } = parse(await readFile(options.write, "utf8")) as {
      config: Record<string, Record<string, unknown>>;
    };
    return { draft: config["foresail:cluster"] ?? {}, said };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Checks that the cluster has these Nodes, and nothing of foresail any more. */
export async function assertReleased(kubeconfig: string, names: readonly string[]): Promise<void> {
  await withApi(kubeconfig, async (client) => {
    const nodes = await client.listNodes();
    assert.deepEqual(nodes.map(({ metadata }) => metadata?.name).sort(), names);
    for (const { metadata } of nodes) {
      const keys = [...Object.keys(metadata?.labels ?? {}), ...Object.keys(metadata?.annotations ?? {})];
      assert.deepEqual(
        keys.filter((key) => /foresail|caos/.test(key)),
        [],
        metadata?.name,
      );
    }
    const reader = {
      apiVersion: "v1",
      kind: "ServiceAccount",
      namespace: "kube-system",
      name: "foresail-reader",
    };
    assert.equal(await client.get(reader), undefined);
  });
}
