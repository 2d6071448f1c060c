import assert from "node:assert/strict";
import { judgePendingOperations, parseUrn } from "../../../../lib/pulumi/state";

const operation = (type: string, resourceType: string, name: string) => ({
  type,
  resource: {
    urn: `urn:pulumi:sandbox-ssh::foresail::${resourceType}::${name}`,
    type: resourceType,
    custom: true,
  },
});
const inCluster = (parents: string, type: string, name: string) => ({
  type: "creating",
  resource: { urn: `urn:pulumi:sandbox-ssh::foresail::${parents}${type}::${name}`, type, custom: true },
});
const judge = (...pending: ReturnType<typeof operation>[]) =>
  judgePendingOperations({ deployment: { pending_operations: pending } });

describe("pending operations of a killed run", () => {
  it("can be resumed for foresail's own resources and the commands of a cluster, and not for others", () => {
    const judged = judge(
      operation("creating", "pulumi-nodejs:dynamic/foresail:NodeGroup", "workers"),
      operation("creating", "openstack:compute/instance:Instance", "server"),
      inCluster("foresail:kubeadm:KubeadmCluster$", "command:remote:Command", "prepare-w-1"),
      inCluster(
        "my:app:Site$foresail:openstack:OpenstackCluster$foresail:kubeadm:KubeadmCluster$",
        "command:remote:Command",
        "prepare-w-2",
      ),
      operation("creating", "command:remote:Command", "theirs"),
      inCluster("my:app:Site$", "command:remote:Command", "theirs too"),
    );
    assert.deepEqual(judged, {
      resumable: [
        "creating workers (pulumi-nodejs:dynamic/foresail:NodeGroup)",
        "creating prepare-w-1 (command:remote:Command)",
        "creating prepare-w-2 (command:remote:Command)",
      ],
      others: [
        "creating server (openstack:compute/instance:Instance)",
        "creating theirs (command:remote:Command)",
        "creating theirs too (command:remote:Command)",
      ],
    });
  });

  it("can be resumed for the cloud objects of a cluster, whose plan deletes what was created and not recorded", () => {
    const type = "openstack:networking/network:Network";
    const urn = `urn:pulumi:prod::foresail::foresail:openstack:OpenstackCluster$${type}::prod`;
    const stack = { deployment: { pending_operations: [{ type: "creating", resource: { urn, type } }] } };
    assert.deepEqual(judgePendingOperations(stack).others, []);
    assert.equal(judge(operation("creating", type, "theirs")).others.length, 1);
  });

  it("are none in a stack that ended normally, or is new", () => {
    for (const stack of [{}, { deployment: {} }, { deployment: { pending_operations: [] } }]) {
      assert.deepEqual(judgePendingOperations(stack), { resumable: [], others: [] });
    }
  });

  it("of a dynamic resource of another program are left to its owner", () => {
    assert.equal(judge(operation("creating", "pulumi-nodejs:dynamic:Resource", "theirs")).others.length, 1);
  });

  it("without a resource are never discarded", () => {
    assert.equal(judgePendingOperations({ deployment: { pending_operations: [{}] } }).others.length, 1);
  });
});

describe("a URN", () => {
  it("names the stack, the project, the types of the parents and the resource", () => {
    assert.deepEqual(
      parseUrn("urn:pulumi:prod::infra::a:b:Cluster$openstack:compute/instance:Instance::w-1"),
      {
        stack: "prod",
        project: "infra",
        types: ["a:b:Cluster", "openstack:compute/instance:Instance"],
        type: "openstack:compute/instance:Instance",
        name: "w-1",
      },
    );
  });

  it("may have a name that contains the separator", () => {
    assert.equal(parseUrn("urn:pulumi:prod::infra::a:b:C::net::w-1").name, "net::w-1");
  });

  it("has empty parts when it is none", () => {
    assert.deepEqual(parseUrn("w-1"), { stack: "w-1", project: "", types: [""], type: "", name: "" });
  });
});
