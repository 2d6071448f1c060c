import { choice, stepLine, number, prose, token, word, words } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const machine = word("machine");

export const tumblebugPlanSteps = defineSteps({
  remove: stepLine`${machine}: leaves etcd and the cluster, and its VM is deleted; one control plane goes in a run`,
  removeStopped: stepLine`${machine}: leaves first and without a drain, since its VM is ${token("status")}`,
});

export const tumblebugMcisSteps = defineSteps({
  /** The deletion of a VM that failed to start. */
  deleteFailed: stepLine`${machine}: delete its VM ${token("vm")}, which never came up (${prose("why")})`,
  create: stepLine`${machine}: create its VM in ${token("connection")} (${prose("shape")})`,
  /** The deletion of a VM that a killed run left, or a group that was removed. */
  deleteUnused: stepLine`delete the VM ${token("vm")}, which no machine has and no run recorded (${prose("why")})`,
  await: stepLine`${machine}: wait for its VM ${token("vm")}, which is ${token("status")}; after ${number("seconds")} s without a change, delete it and create it again`,
});

export const tumblebugNamespaceSteps = defineSteps({
  create: stepLine`create the namespace ${token("name")}`,
  use: stepLine`use the namespace ${token("name")}, which is there and stays when the cluster goes`,
});

const what = choice("what", ["image", "securityGroup", "spec", "sshKey", "vNet"]);
const name = token("name");

/** Objects that VMs are created from. */
export const tumblebugObjectSteps = defineSteps({
  create: stepLine`create the ${what} ${name} in ${token("connection")}: ${prose("properties")}`,
  use: stepLine`use the ${what} ${name}, which is there and stays when the cluster goes`,
  /** An object that the server does not register. */
  useUnregistered: stepLine`use the image ${prose("image")} by its name; nothing is registered`,
  open: stepLine`${name}: open ${prose("rule")}`,
  reopen: stepLine`${name}: reopen ${prose("rule")}, which was closed outside foresail`,
  close: stepLine`${name}: close ${prose("rule")}`,
});

export type TumblebugObjectStep = StepOf<typeof tumblebugObjectSteps>;

export const tumblebugLoadBalancerSteps = defineSteps({
  create: stepLine`create a load balancer on port ${number("port")} in front of ${words("machines")}`,
  add: stepLine`${machine}: put behind it`,
  remove: stepLine`${machine}: take away from it`,
});
