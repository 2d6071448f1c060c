import { choice, line, number, text, token, word, words } from "../../../lib/steps/line";
import { defineSteps, type StepOf } from "../../../lib/steps/steps";

const machine = word("machine");

export const tumblebugPlanSteps = defineSteps({
  remove: line`${machine}: leaves etcd and the cluster, and its VM is deleted; one control plane goes in a run`,
  removeStopped: line`${machine}: leaves first and without a drain, since its VM is ${token("status")}`,
});

export const tumblebugMcisSteps = defineSteps({
  /** The deletion of a VM that failed to start. */
  deleteFailed: line`${machine}: delete its VM ${token("vm")}, which never came up (${text("why")})`,
  create: line`${machine}: create its VM in ${token("connection")} (${text("shape")})`,
  /** The deletion of a VM that a killed run left, or a group that was removed. */
  deleteUnused: line`delete the VM ${token("vm")}, which no machine has and no run recorded (${text("why")})`,
  await: line`${machine}: wait for its VM ${token("vm")}, which is ${token("status")}; after ${number("seconds")} s without a change, delete it and create it again`,
});

export const tumblebugNamespaceSteps = defineSteps({
  create: line`create the namespace ${token("name")}`,
  use: line`use the namespace ${token("name")}, which is there and stays when the cluster goes`,
});

const what = choice("what", ["image", "securityGroup", "spec", "sshKey", "vNet"]);
const name = token("name");

/** Objects that VMs are created from. */
export const tumblebugObjectSteps = defineSteps({
  create: line`create the ${what} ${name} in ${token("connection")}: ${text("properties")}`,
  use: line`use the ${what} ${name}, which is there and stays when the cluster goes`,
  /** An object that the server does not register. */
  useUnregistered: line`use the image ${text("image")} by its name; nothing is registered`,
  open: line`${name}: open ${text("rule")}`,
  reopen: line`${name}: reopen ${text("rule")}, which was closed outside foresail`,
  close: line`${name}: close ${text("rule")}`,
});

export type TumblebugObjectStep = StepOf<typeof tumblebugObjectSteps>;

export const tumblebugLoadBalancerSteps = defineSteps({
  create: line`create a load balancer on port ${number("port")} in front of ${words("machines")}`,
  add: line`${machine}: put behind it`,
  remove: line`${machine}: take away from it`,
});
