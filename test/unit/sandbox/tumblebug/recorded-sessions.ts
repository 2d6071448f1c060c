import type { Generation } from "../../../../providers/tumblebug/plan/model";
import type { RawTumblebug } from "./requests";

/** An action between two recorded requests that only its effect shows. */
interface UnrecordedStep {
  /** line of the request that follows */
  readonly before: number;
  readonly act: (server: RawTumblebug) => Promise<unknown>;
}

/** Recorded answers that the simulated server does not give, and why. */
export const NOT_COMPARED: Readonly<Record<Generation, readonly { line: number; reason: string }[]>> = {
  mcis: [],
  infra: [{ line: 198, reason: "it was recorded while two other nodes were being made" }],
};

const CAPACITY = "InsufficientInstanceCapacity: there is no sufficient capacity for";
const FROM_SPIDER = "(from 127.0.0.1:1024/spider/vm (500 Internal Server Error))";

const SHARED = {
  vNetId: "k1-vpc",
  subnetId: "k1-subnet",
  securityGroupIds: ["k1-sg"],
  sshKeyId: "k1-sshkey",
};

export const UNRECORDED: Readonly<Record<Generation, readonly UnrecordedStep[]>> = {
  mcis: [
    // what follows needs one more control plane, and VMs in the place of ones that were deleted
    { before: 72, act: add("fstest2/mcis/k1", vm("cp")) },
    { before: 75, act: add("fstest2/mcis/k1", vm("bad2", { subnetId: "no-such-subnet" })) },
    { before: 88, act: add("fstest2/mcis/k1", vm("w-2")) },
    { before: 129, act: registerSpec("ns1", "dev-mock-config01-mock-vmspec-03-spec", "mock-vmspec-03") },
    {
      before: 143,
      act: async (server) => {
        const name = "dev-mock-config01-mock-vmimage-04-image";
        const image = { name, connectionName: "mock-config01", cspImageId: "mock-vmimage-04" };
        await server.ask("POST", "/ns/ns1/resources/image?action=registerWithInfo", image);
        failNext(server, "x-1", JSON.stringify({ message: `${CAPACITY} mock-vmspec-03` }));
      },
    },
    {
      before: 145,
      act: async (server) => {
        await server.ask("GET", "/ns/ns1/control/mcis/dev?action=terminate&force=true");
        await server.ask("GET", "/ns/ns1/mcis/dev");
      },
    },
    {
      before: 155,
      act: async (server) => {
        await server.ask("DELETE", "/ns/ns1/resources/spec/dev-mock-config01-mock-vmspec-03-spec");
        await server.ask("DELETE", "/ns/ns1/resources/image/dev-mock-config01-mock-vmimage-01-image");
      },
    },
  ],
  infra: [
    // a node that fails, as those before it
    { before: 84, act: add("fstest2/infra/k1", { ...node("w-2"), cspImageName: undefined }) },
    { before: 107, act: (server) => server.ask("POST", "/ns", { name: "fstest3" }) },
    { before: 122, act: add("fstest3/infra/k1", node("cp")) },
    { before: 133, act: (server) => server.ask("DELETE", "/ns/fstest3/infra/k1/node/w-2-1") },
    {
      before: 159,
      act: (server) => {
        server.fake.server.faults.addForMachines({ machine: "cp-3", effect: { kind: "unnoticed-end" } });
        return Promise.resolve();
      },
    },
    {
      before: 175,
      act: async (server) => {
        const image = { name: "x", connectionName: "mock-default", cspImageName: "mock-vmimage-04" };
        await server.ask("POST", "/ns/ns1/resources/image?action=registerWithId", image);
        failNext(server, "x-1", `${CAPACITY} mock-vmspec-03 ${FROM_SPIDER}`);
      },
    },
    { before: 177, act: terminate("ns1/control/infra/dev") },
    {
      before: 184,
      act: (server) => server.ask("DELETE", "/ns/ns1/resources/spec/dev-mock-default-mock-vmspec-01-spec"),
    },
    {
      before: 190,
      act: (server) => {
        failNext(server, "b-1", `${CAPACITY} mock-vmspec-01 ${FROM_SPIDER}`);
        return Promise.resolve();
      },
    },
    { before: 192, act: terminate("noimg/control/infra/i1") },
    {
      before: 199,
      act: async (server) => {
        for (const name of ["a-1", "b-1"]) await server.ask("DELETE", `/ns/noimg/infra/i2/node/${name}`);
        await add("noimg/infra/i2", noImage("d"))(server);
      },
    },
  ],
};

function add(path_: string, group: object): UnrecordedStep["act"] {
  const machine = path_.includes("/mcis/") ? "vm" : "node";
  return (server) => server.ask("POST", `/ns/${path_}/${machine}`, group);
}

function terminate(path_: string): UnrecordedStep["act"] {
  return (server) => server.ask("GET", `/ns/${path_}?action=terminate&force=true`);
}

function registerSpec(namespace: string, name: string, cspSpecName: string): UnrecordedStep["act"] {
  const body = { name, connectionName: "mock-config01", cspSpecName };
  return (server) => server.ask("POST", `/ns/${namespace}/resources/spec`, body);
}

function failNext(server: RawTumblebug, machine: string, systemMessage: string): void {
  const effect = { kind: "failed", systemMessage } as const;
  server.fake.server.faults.addForMachines({ machine, times: 1, effect });
}

function vm(name: string, more: object = {}) {
  return {
    ...{ name, subGroupSize: "1", connectionName: "mock-config01", specId: "k1-m1-spec-abc123" },
    ...{ imageId: "k1-image", ...SHARED, vmUserAccount: "cb-user", rootDiskType: "default" },
    ...{ rootDiskSize: "default", label: "", ...more },
  };
}

function node(name: string) {
  return {
    ...{ name, nodeGroupSize: 1, connectionName: "mock-default", specId: "k1-m1-spec-abc123" },
    ...{ imageId: "mock-vmimage-01", cspImageName: "mock-vmimage-01", ...SHARED, nodeUserName: "cb-user" },
    label: { "foresail.io/x": "y" },
  };
}

function noImage(name: string) {
  return {
    ...{ name, nodeGroupSize: 1, connectionName: "mock-default", specId: "sp" },
    ...{ imageId: "mock-vmimage-01", cspImageName: "mock-vmimage-01", vNetId: "v", subnetId: "s" },
    ...{ securityGroupIds: ["sg"], sshKeyId: "k", nodeUserName: "cb-user" },
  };
}
