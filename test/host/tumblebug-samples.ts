import { securityRules } from "../../providers/tumblebug/plan/security-rules";
import { UNKNOWN } from "../../lib/unknown";

/** A server that check and diff of a single object never call. */
const server = {
  address: "http://127.0.0.1:1/tumblebug",
  generation: "mcis",
  credentials: { username: "u", password: "p" },
};

const object = {
  server,
  namespace: "ns1",
  name: "k1-aws",
  connection: "aws-seoul",
  mark: "0123456789ab",
  keepOnDelete: false,
  foreign: false,
};

const rules = securityRules("nodes", {
  ssh: ["192.0.2.0/24"],
  api: ["192.0.2.0/24"],
  nodePorts: [],
  nodes: ["10.21.3.0/24"],
  pods: "10.244.0.0/16",
  podNetwork: "flannel",
  overInternet: false,
});

/** Arguments of each kind with which check and diff need no server. */
export const TUMBLEBUG_SAMPLES = {
  "tumblebug/TumblebugPlan": {
    // a known server would be called
    server: UNKNOWN,
    namespace: "ns1",
    createNamespace: false,
    infrastructure: "k1",
    connections: [],
    slots: [],
    loadBalancer: false,
    allowMock: false,
    objects: { vNets: [], securityGroups: [], sshKeys: [], images: [], specs: [] },
    ...{ steps: [], leaving: [], later: [], remarks: [] },
  },
  "tumblebug/TumblebugNamespace": object,
  "tumblebug/TumblebugVNet": { ...object, cidr: "10.21.3.0/24", cidrWritten: false, subnet: "k1-subnet" },
  "tumblebug/TumblebugSecurityGroup": { ...object, vNet: "k1-aws-vpc", rules },
  "tumblebug/TumblebugSshKey": { ...object, user: "cb-user" },
  "tumblebug/TumblebugImage": { ...object, cloudImage: "ami-0abc" },
  "tumblebug/TumblebugSpec": { ...object, cloudSpec: "t3.medium" },
  "tumblebug/TumblebugMcis": {
    server: UNKNOWN,
    namespace: "ns1",
    infrastructure: "k1",
    mark: "0123456789ab",
    slots: [],
    objects: {},
    specs: {},
    images: {},
    user: "cb-user",
    timeoutSeconds: 5,
  },
  "tumblebug/TumblebugVm": {
    server,
    namespace: "ns1",
    infrastructure: "k1",
    machine: "w-1",
    vm: "w-1-1",
    timeoutSeconds: 5,
  },
  "tumblebug/TumblebugLoadBalancer": {
    server,
    namespace: "ns1",
    infrastructure: "k1",
    group: "cp",
    port: 6443,
    targetPort: 6443,
    machines: ["cp-1"],
    vms: { "cp-1": "cp-1" },
    recorded: "",
    timeoutSeconds: 5,
  },
};
