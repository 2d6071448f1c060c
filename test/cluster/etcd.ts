import type { TestCluster } from "./test-cluster";

const CALL = `curl --silent --show-error --fail --cacert /etc/kubernetes/pki/etcd/ca.crt \\
  --cert /etc/kubernetes/pki/apiserver-etcd-client.crt --key /etc/kubernetes/pki/apiserver-etcd-client.key`;

/** The names of etcd's members as one control plane sees them, and whether it answers healthy: that takes a quorum. */
export async function etcdAt(
  cluster: Pick<TestCluster, "onMachine">,
  controlPlane: string,
): Promise<{ members: string[]; healthy: boolean }> {
  const answer = await cluster.onMachine(
    controlPlane,
    `${CALL} --data '{}' https://127.0.0.1:2379/v3/cluster/member/list; echo
${CALL} https://127.0.0.1:2379/health`,
  );
  const [list = "", health = ""] = answer.trim().split("\n");
  const { members } = JSON.parse(list) as { members: { name?: string }[] };
  return {
    members: members.map(({ name = "" }) => name).sort(),
    healthy: (JSON.parse(health) as { health: string }).health === "true",
  };
}

/** The bytes that etcd stores under a key, as latin-1 text. */
export async function storedBytes(cluster: TestCluster, controlPlane: string, key: string): Promise<string> {
  const request = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const answer = await cluster.onMachine(
    controlPlane,
    `${CALL} --data '${request}' https://127.0.0.1:2379/v3/kv/range`,
  );
  const { kvs = [] } = JSON.parse(answer) as { kvs?: { value: string }[] };
  return Buffer.from(kvs[0]?.value ?? "", "base64").toString("latin1");
}
