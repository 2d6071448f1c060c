import assert from "node:assert/strict";
import { readInventory } from "../../../../cli/init/plan/read-inventory";

const KUBESPRAY_INI = `
[all:vars]
ansible_user=ubuntu
[all]
node1 ansible_host=203.0.113.1 ip=10.3.0.1 # the first
node2 ansible_host=203.0.113.2 ip=10.3.0.2 ansible_port=2222
node3 ansible_host=203.0.113.3 ansible_user="root"

[kube_control_plane]
node1
[etcd]
node1
[workers]
node2
node3
[kube_node:children]
workers
[k8s_cluster:children]
kube_control_plane
kube_node
`;

const KUBESPRAY_YAML = `
all:
  hosts:
    node1: { ansible_host: 203.0.113.1, ip: 10.3.0.1, access_ip: 10.3.0.1 }
    node2: { ansible_host: 203.0.113.2 }
    node3: { ansible_host: 203.0.113.3 }
  children:
    kube_control_plane: { hosts: { node1: } }
    kube_node: { hosts: { node1: , node2: } }
    etcd: { hosts: { node3: } }
    k8s_cluster: { children: { kube_control_plane: , kube_node: } }
`;

const K0SCTL = `
apiVersion: k0sctl.k0sproject.io/v1beta1
kind: Cluster
spec:
  hosts:
    - role: controller
      ssh: { address: 203.0.113.1, user: ops, port: 22, keyPath: ~/.ssh/id }
      privateAddress: 10.3.0.1
    - role: worker
      hostname: Worker-A.example.com
      ssh: { address: 203.0.113.2, port: 2222, bastion: { address: 203.0.113.9 } }
`;

const KUBEONE = `
apiVersion: kubeone.k8c.io/v1beta2
kind: KubeOneCluster
versions: { kubernetes: v1.36.3 }
controlPlane:
  hosts:
    - { publicAddress: 203.0.113.1, privateAddress: 10.3.0.1, sshUsername: ubuntu }
staticWorkers:
  hosts:
    - { privateAddress: 10.3.0.2, hostname: rack-4, sshPort: 2222 }
dynamicWorkers: [{ name: pool }]
`;

const LIST = `
# the rack
cp-1 203.0.113.1 control-plane
w-1  ops@203.0.113.2:2222 worker   # new
`;

const cp = { role: "control-plane", address: "203.0.113.1" };

describe("a list of machines for foresail init", () => {
  const cases: [string, string, object[]][] = [
    [
      "a line for each machine",
      LIST,
      [
        { name: "cp-1", ...cp },
        { name: "w-1", role: "worker", address: "203.0.113.2", port: 2222, user: "ops" },
      ],
    ],
    [
      "an inventory of kubespray in INI",
      KUBESPRAY_INI,
      [
        { name: "node1", ...cp, user: "ubuntu", internalAddress: "10.3.0.1" },
        {
          ...{ name: "node2", role: "worker", address: "203.0.113.2", port: 2222 },
          ...{ user: "ubuntu", internalAddress: "10.3.0.2" },
        },
        { name: "node3", role: "worker", address: "203.0.113.3", user: "root" },
      ],
    ],
    [
      "an inventory of kubespray in YAML",
      KUBESPRAY_YAML,
      [
        { name: "node1", ...cp, internalAddress: "10.3.0.1" },
        { name: "node2", role: "worker", address: "203.0.113.2" },
      ],
    ],
    [
      "k0sctl.yaml",
      K0SCTL,
      [
        { name: "cp-1", ...cp, user: "ops", internalAddress: "10.3.0.1" },
        { name: "worker-a", role: "worker", address: "203.0.113.2", port: 2222, user: "root" },
      ],
    ],
    [
      "kubeone.yaml",
      KUBEONE,
      [
        { name: "cp-1", ...cp, user: "ubuntu", internalAddress: "10.3.0.1" },
        { name: "rack-4", role: "worker", address: "10.3.0.2", port: 2222, user: "root" },
      ],
    ],
  ];
  for (const [name, text, machines] of cases)
    it(`is ${name}`, () => assert.deepEqual(readInventory(text).machines, machines));

  it("names the version that kubeone.yaml has", () => {
    assert.equal(readInventory(KUBEONE).version, "1.36.3");
  });

  const notes: [string, string, RegExp[]][] = [
    ["a running cluster is adopted", KUBESPRAY_INI, [/foresail adopt/]],
    [
      "kubespray's mixed roles and its own etcd are named",
      KUBESPRAY_YAML,
      [/also run workloads: node1/, /node3: an etcd of its own/],
    ],
    ["k0s has to be reset, and a jump host needs its key", K0SCTL, [/have to be reset/, /ssh-keyscan/]],
    ["machines of a cloud are left out", KUBEONE, [/dynamicWorkers are left out/]],
  ];
  for (const [name, text, expected] of notes)
    it(`says that ${name}`, () => {
      const found = readInventory(text).notes.join("\n");
      for (const pattern of expected) assert.match(found, pattern);
    });

  const refused: [string, string, RegExp][] = [
    ["a line without a role", "cp-1 203.0.113.1", /line 1: write NAME \[USER@\]ADDRESS/],
    [
      "two machines with one address",
      "a 203.0.113.1 control-plane\nb 203.0.113.1 worker",
      /two machines have/,
    ],
    ["two machines with one name", "a 203.0.113.1 control-plane\na 203.0.113.2 worker", /the name "a"/],
    ["no control plane", "a 203.0.113.1 worker", /no machine is a control plane/],
    ["a name that no Node can have", "a_b 203.0.113.1 control-plane", /machine "a_b": .*not a DNS label/],
    [
      "k0s over another connection",
      "apiVersion: k0sctl.k0sproject.io/v1beta1\nspec: {hosts: [{role: worker}]}",
      /spec\.hosts\[0\] has no ssh\.address/,
    ],
    [
      "kubeone.yaml whose machines Terraform has",
      "kind: KubeOneCluster",
      /those from Terraform are not in it/,
    ],
  ];
  for (const [name, text, expected] of refused)
    it(`refuses ${name}`, () => assert.throws(() => readInventory(text), expected));
});
